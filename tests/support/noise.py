"""Lines that terminals, loggers, JVMs and people put around what a tool prints."""

NOISE = {
    "bash-root": "[root@node-7 kafka_2.11-1.0.0]# bin/kafka-topics.sh --describe",
    "bash-user": "kafka@broker-1:/opt/kafka$ ./bin/kafka-log-dirs.sh --describe",
    "bash-home": "[appuser@broker-2 ~]$ kafka-configs --describe --all",
    "bash-alone": "[root@node-7 ~]#",
    "bash-version": "bash-5.1$ kafka-topics --describe",
    "no-name": "I have no name!@kafka-0:/$ kafka-topics.sh --describe",
    "conda": "(base) me@laptop:~/work$ kafka-topics --describe",
    "zsh": "me@Macbook kafka % bin/kafka-topics.sh --describe",
    "dollar": "$ kafka-topics.sh --bootstrap-server k1:9092 --describe",
    "hash": "# kafka-topics.sh --bootstrap-server k1:9092 --describe",
    "alpine": "/ # kafka-topics.sh --describe",
    "alpine-folder": "/opt/kafka # kafka-topics.sh --describe",
    "powershell": "PS C:\\kafka> .\\bin\\windows\\kafka-topics.bat --describe",
    "cmd": "C:\\kafka>bin\\windows\\kafka-topics.bat --describe",
    "kubectl-exec": "kubectl exec -it kafka-0 -- bin/kafka-topics.sh --describe",
    "oc-exec": "$ oc -n kafka exec my-cluster-kafka-0 -c kafka -- bin/kafka-topics.sh",
    "docker-exec": "docker exec -it broker kafka-topics --describe",
    "compose-exec": "docker-compose exec broker kafka-topics --describe",
    "bare-command": "bin/kafka-topics.sh --zookeeper localhost:2181 --describe",
    "with-settings": "KAFKA_OPTS=-Dx=y sudo -u kafka bin/kafka-topics.sh --describe",
    "command-on-lines": "$ kafka-topics.sh \\\n  --zookeeper k1:2181 \\\n  --list",
    "command-quoted-lines": "$ kafka-topics.sh \\\n> --zookeeper k1 \\\n> --describe",
    "traced": "+ kafka-topics.sh --describe",
    "log4j": "[2019-05-11 09:12:44,101] INFO Accepted socket connection from "
    "/127.0.0.1:52110 (org.apache.zookeeper.server.NIOServerCnxnFactory)",
    "log4j-warn": "[2024-02-02 10:00:00,123] WARN [AdminClient clientId=adminclient-1] "
    "Connection to node 2 (k2/10.0.0.2:9092) could not be established. Broker may not "
    "be available. (org.apache.kafka.clients.NetworkClient)",
    "log4j-iso": "2024-02-02T10:00:00.123Z main WARN something (a.b.C)",
    "logback": "10:00:00.123 [main] DEBUG org.apache.kafka.clients.NetworkClient - x",
    "short-date": "24/02/02 10:00:00 INFO utils.AppInfoParser: Kafka version: 2.0.0",
    "level-first": "WARN [Consumer clientId=c-1] Bootstrap broker down "
    "(org.apache.kafka.clients.NetworkClient)",
    "logged-error": "[2024-02-02 10:00:00,123] ERROR [Broker id=1] Lost it "
    "(kafka.server.ReplicaManager)\njava.io.IOException: No space left\n"
    "\tat java.base/java.io.FileOutputStream.write(FileOutputStream.java:1)\n"
    "Caused by: java.lang.RuntimeException: x\n\t... 3 more",
    "logged-settings": "[2024-02-02 10:00:00,123] INFO AdminClientConfig values: \n"
    "\tbootstrap.servers = [k1:9092]\n\tclient.id = \n\tsasl.jaas.config = null",
    "klog": "W0202 10:00:00.123456   12345 warnings.go:70] v1beta1 is deprecated",
    "slf4j": "SLF4J: Class path contains multiple SLF4J bindings.",
    "slf4j-found": "SLF4J: Found binding in [jar:file:/opt/a.jar!/org/S.class]",
    "slf4j-2": "SLF4J(W): No SLF4J providers were found.",
    "log4j-setup": "log4j:WARN No appenders could be found for logger (kafka.utils).",
    "log4j-error": "log4j:ERROR Could not read configuration file from URL [file:x].",
    "log4j-2": "ERROR StatusLogger Reconfiguration failed: No configuration found",
    "jvm": "OpenJDK 64-Bit Server VM warning: Sharing is only supported for boot "
    "loader classes because bootstrap classpath has been appended",
    "jvm-oracle": "Java HotSpot(TM) 64-Bit Server VM warning: ignoring option PermSize",
    "jvm-options": "Picked up JAVA_TOOL_OPTIONS: -Djava.security.manager=allow",
    "jvm-old-options": "Picked up _JAVA_OPTIONS: -Xmx512m",
    "jdk-options": "NOTE: Picked up JDK_JAVA_OPTIONS: -Xmx1g",
    "jvm-unified": "[0.012s][warning][cds] shared class paths mismatch",
    "jvm-access": "WARNING: An illegal reflective access operation has occurred",
    "kafka-note": "Note: This will not show information about old Zookeeper-based "
    "consumers.",
    "kafka-warning": "WARNING: Due to limitations in metric names, topics with a "
    "period ('.') or underscore ('_') could collide.",
    "kafka-deprecated": "Option --zookeeper is deprecated, use --bootstrap-server.",
    "kubectl-container": 'Defaulted container "kafka" out of: kafka, init (init)',
    "kubectl-old": "Defaulting container name to kafka.\nUse 'kubectl describe pod/k-0 "
    "-n kafka' to see all of the containers in this pod.",
    "kubectl-tty": "Unable to use a TTY - input is not a terminal or the right kind of "
    "file",
    "docker-tty": "the input device is not a TTY",
    "kubectl-warning": "Warning: policy/v1beta1 PodSecurityPolicy is deprecated",
    "ssh": "Last login: Tue Mar  5 10:00:01 2024 from 10.0.0.1",
    "time": "real\t0m1.234s\nuser\t0m2.000s\nsys\t0m0.100s",
    "fence": "```",
    "fence-language": "```text",
    "fence-tilde": "~~~",
    "fence-attributes": "```{.text .numberLines}",
    "fence-title": '```console title="out.txt"',
    "jira": "{noformat}",
    "jira-code": "{code:bash}",
    "html": "<pre>",
    "powershell-stderr": "At line:1 char:1\n+ ~~~~~~~~~~\n    + CategoryInfo          "
    ": NotSpecified: (x:String) [], RemoteException",
    "leave": "exit",
    "sudo": "[sudo] password for me:",
    "here-document": "EOF",
    "log-of-librdkafka": "%3|1700000000.123|FAIL|rdkafka#producer-1| [thrd:k1:9092]: x",
    "words-of-kcat": "% Reading configuration from file /etc/kcat.conf",
    "helm": "# Source: chart/templates/kafka.yaml",
    "pager": "(END)",
    "pager-more": "--More--",
    "pager-more-part": "--More--(42%)",
    "pager-colon": ":",
    "pager-lines": "lines 1-23/118 (END)",
    "welcome": "Welcome to Ubuntu 22.04.3 LTS (GNU/Linux 5.15.0-91-generic x86_64)",
    "date": "Tue Mar  5 10:00:01 UTC 2024",
    "mac": "MacBook-Pro:kafka me$ bin/kafka-topics.sh --describe",
    "curl": "  % Total    % Received % Xferd  Average Speed   Time    Time     Time\n"
    "                                 Dload  Upload   Total   Spent    Left  Speed\n"
    "100  1234  100  1234    0     0  12345      0 --:--:-- --:--:-- --:--:-- 12345",
    "http": "HTTP/1.1 200 OK\nContent-Type: application/json\nDate: Tue, 05 Mar 2024",
    "powershell-bare": "PS>.\\bin\\windows\\kafka-topics.bat --describe",
    "alias-of-kubectl": "k exec -it kafka-0 -- kafka-topics.sh --describe",
    "traced-shell": "++ dirname /opt/kafka/bin/kafka-topics.sh",
    "shell-pipe": "cat topics.txt | head -20",
    "shell-export": "export KAFKA_HEAP_OPTS=-Xmx512M",
    "shell-set": "set -x",
    "time-posix": "real 0.51",
    "date-british": "Tue 05 Mar 2024 10:00:01 AM UTC",
    "date-iso": "2024-03-05T10:00:00Z",
    "image": "===> Configuring ...",
    "user": "uid=1000(appuser) gid=1000(appuser) groups=1000(appuser)",
    "locale": "bash: warning: setlocale: LC_ALL: cannot change locale (en_US)",
    "logback-status": "10:00:00,123 |-INFO in c.q.l.LoggerContext[default] - none",
    "log-of-tomcat": "05-Mar-2024 10:00:00.123 INFO [main] a.b.C",
    "log-of-jdk": "Mar 05, 2024 10:00:00 AM org.apache.kafka.clients.Metadata update",
    "log4j-debug": "log4j: Trying to find [log4j.xml] using context classloader",
    "jvm-comma": "[0,004s][warning][gc] -XX:+PrintGC is deprecated",
    "jvm-banner": "Java(TM) SE Runtime Environment (build 1.8.0_202-b08)",
    "jvm-version": 'openjdk version "11.0.2" 2019-01-15',
    "deprecated": "Deprecated: something",
    "deprecated-brackets": "[DEPRECATED] use something else",
    "alter": "Completed updating config for topic orders.",
    "curl-verbose": "* Connected to localhost (127.0.0.1) port 8090 (#0)\n> GET /a "
    "HTTP/1.1\n>\n< HTTP/1.1 200 OK\n< Content-Type: application/json",
    "wget": "--2024-03-05 10:00:00--  http://prom:9090/api/v1/query",
    "quote-of-jira": "{quote}",
    "code-of-a-forum": "[code]",
    "source-of-asciidoc": "[source,bash]",
    "html-details": "<details><summary>output</summary>",
    "html-closed": "</code></pre>",
    "rule": "=====",
    "heading-of-asciidoc": "== Output",
    "emphasis": "*Output*",
    "heading": "## Output of the tool",
    "bold": "**Output:**",
}
"""What is noise around the data of every importer, by kind."""

WORDS = {
    "sentence": "Here is what we get from the first cluster:",
    "question": "Does anybody know why this happens?",
    "short-heading": "Output:",
    "list-item": "1. Describe all of the topics",
    "thanks": "Many thanks!",
    "greeting": "Hello all, we run three brokers in one rack.",
}
"""Sentences: noise in what tools print, but not in CSV or YAML."""

WRAPPINGS = {
    "windows-lines": lambda text: text.replace("\n", "\r\n").encode(),
    "byte-order-mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "utf-16": lambda text: text.replace("\n", "\r\n").encode("utf-16"),
    "utf-16-be": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "utf-16-without-mark": lambda text: text.encode("utf-16-le"),
    "utf-16-be-without-mark": lambda text: text.encode("utf-16-be"),
    "blanks-that-do-not-break": lambda text: _each_line(_hard_blanks(text), "\u00a0 "),
    "indented": lambda text: _each_line(text, "    "),
    "indented-by-a-tab": lambda text: _each_line(text, "\t"),
    "quoted": lambda text: _each_line(text, "> "),
    "container": lambda text: _each_line(text, "kafka_1  | "),
    "old-mac-lines": lambda text: text.replace("\n", "\r").encode(),
    "quoted-twice": lambda text: _each_line(text, "> > "),
    "quoted-without-blank": lambda text: _each_line(text, ">>"),
    "mail-bar": lambda text: _each_line(text, "| "),
    "pod": lambda text: _each_line(text, "[pod/kafka-0/kafka] "),
    "grep-n": lambda text: _numbered(text, "{}:"),
    "grep-n-file": lambda text: _numbered(text, "out.txt:{}:"),
    "grep-files": lambda text: _each_line(text, "logs/out.txt:"),
    "cat-n": lambda text: _numbered(text, "{:6d}\t"),
    "numbered-by-an-editor": lambda text: _numbered(text, "{:4d} "),
    "numbered-by-nl": lambda text: _numbered(text, "{:6d}  "),
    "numbered-and-quoted": lambda text: _numbered(text, "> {}:"),
    "times": lambda text: _numbered(text, "2024-03-05T10:00:00.{:06d}Z "),
    "times-in-brackets": lambda text: _each_line(text, "[2024-03-05 10:00:00] "),
    "times-of-ts": lambda text: _each_line(text, "Mar 05 10:00:01 "),
    "journal": lambda text: _each_line(text, "Mar  5 10:00:01 k1 kafka[12]: "),
    "container-and-time": lambda text: _each_line(
        text, "kafka-1  | 2024-03-05T10:00:01.5Z "
    ),
    "new-pages": lambda text: text.replace("\n", "\n\f").encode(),
    "coloured": lambda text: f"\x1b[0m\x1b[01;31m{text}\x1b[K".encode(),
}
"""What is done to a whole file and changes nothing."""


def _hard_blanks(text):
    """Every second blank of a line that is no JSON, as a web page copies them."""
    return "\n".join(
        line if line.lstrip()[:1] in set('{["]}') else line.replace("  ", " \u00a0")
        for line in text.split("\n")
    )


def _numbered(text, before):
    lines = enumerate(text.split("\n"), 1)
    return "\n".join(
        before.format(n) + line if line else line for n, line in lines
    ).encode()


def _each_line(text, before):
    lines = text.split("\n")
    return "\n".join(before + line if line else line for line in lines).encode()
