"""
Noise: lines of terminals, loggers, JVMs and people around the output of a tool.

Each kind of noise has a pattern of the start of its lines. Messages show only the text
that the pattern matches, because the rest of the line may contain a password.
"""

import re
from dataclasses import dataclass

PROMPT = "a shell prompt"
COMMAND = "a command line"
LOG = "a log line"
FENCE = "a fence"
WORDS = "words"
_MAX_LINE = 20_000
_MAX_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Noise:
    """
    Line that is not data.

    Parameters
    ----------
    kind
        Kind of noise, such as ``a log line``.
    shown
        Start of the line, as far as messages may show it.
    """

    kind: str
    shown: str


_LEVEL = r"(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|SEVERE)\b"
_TIME = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?"
_ZONE = r"(?: ?(?:Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?"
_DATE = r"(?:[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}|[0-9]{2}/[0-9]{2}/[0-9]{2,4})"
_TOOLS = (
    r"(?:kafka-[a-z-]+|kcat|kafkacat|kubectl|oc|docker(?:-compose)?|podman|nerdctl"
    r"|crictl|curl|ssh)(?:\.sh|\.bat|\.exe|\.cmd)?"
)
_BEFORE = (
    r"(?:(?:sudo(?: -[a-zA-Z]+(?: \w+)?)?|time|exec|env|export|set|nohup|watch"
    r"|[A-Z_][A-Z0-9_]*=\S*|&&) +)*"
)
_COMMAND = rf"{_BEFORE}(?:[\w.~$:{{}}-]*[\\/])*{_TOOLS}(?=[ \t]|$)"

# Text behind a prompt is shown only if it is the name of a known tool.
_AFTER = rf"(?= |$)(?:[ \t]*{_COMMAND})?"

_KINDS: tuple[tuple[str, str], ...] = (
    (
        LOG,
        rf"\[?{_DATE}[T ]{_TIME}{_ZONE}\]?[ \t]+(?:\[[^\]\n]{{0,200}}\][ \t]+)?"
        rf"(?:main[ \t]+)?{_LEVEL}",
    ),
    (LOG, rf"{_TIME}[ \t]+\[[^\]\n]{{1,200}}\][ \t]+{_LEVEL}"),
    (LOG, r"(?:TRACE|DEBUG|INFO|WARN)(?::|[ \t]+\[|[ \t]+[a-zA-Z_.$]+[ \t:])"),
    (LOG, rf"[IWE][0-9]{{4}} {_TIME}[ \t]+[0-9]+[ \t]\S+\]"),
    (LOG, rf"[0-9]{{2}}-[A-Z][a-z]{{2}}-[0-9]{{4}} {_TIME}[ \t]+{_LEVEL}"),
    (
        LOG,
        r"[A-Z][a-z]{2} [0-9]{1,2}, [0-9]{4},? [0-9]{1,2}:[0-9]{2}:[0-9]{2} [AP]M "
        r"(?=[\w$]+\.)",
    ),
    (LOG, rf"{_TIME} \|-(?:INFO|WARN) in "),
    (LOG, r"SLF4J(?:\([A-Z]\))?:"),
    (LOG, r"log4j:(?:WARN|ERROR| )"),
    (LOG, r"(?:main[ \t]+)?(?:ERROR|WARN)[ \t]+StatusLogger"),
    (
        "a JVM warning",
        r"(?:OpenJDK|Java HotSpot\(TM\)|Eclipse OpenJ9|GraalVM)"
        r"[\w .()-]{0,60}\bVM warning:",
    ),
    ("a JVM warning", r"(?:NOTE: )?Picked up (?:JAVA_TOOL|_JAVA|JDK_JAVA)_OPTIONS"),
    ("a JVM warning", r"\[[0-9]+[.,][0-9]+s\]\[(?:warning|info|error|debug)[ \t]*\]"),
    (
        "a banner of the JVM",
        r"(?:openjdk|java) version \"|(?:OpenJDK|Java\(TM\) SE) Runtime Environment\b"
        r"|(?:OpenJDK|Java HotSpot\(TM\))[\w .-]{0,40} VM \(?(?=[\w.+-]*build|\()",
    ),
    (
        "a warning",
        r"(?:WARNING|Warning|warning|DEPRECATED|Deprecated|DEPRECATION(?: WARNING)?):"
        r"|\[(?:WARNING|Warning|DEPRECATED|Deprecated)\]"
        r"|(?:[\w./-]{1,100}: (?:line [0-9]{1,6}: )?){1,3}[wW]arning: |(?:tput|stty): ",
    ),
    ("a note", r"(?:NOTE|Note|note|Hint|hint|Tip|INFO|Info|info):(?=[ \t])"),
    (
        "a note",
        r"Consumer group [`'\"].{1,250}[`'\"] (?:has no active members"
        r"|is rebalancing)",
    ),
    ("a list of brokers", r"BROKER INFO$|[0-9]{1,10} -> \S{1,250}:[0-9]{1,5}$"),
    ("a note", r"Option \[?-{0,2}[\w-]+\]? (?:is|has been) deprecated"),
    ("a note", r"Completed [uU]pdating (?:default )?config for |Created topic "),
    ("words of kubectl", r"Default(?:ed|ing) container(?: name)?\b"),
    ("words of kubectl", r"Use 'kubectl describe pod\S*"),
    ("words of kubectl", r"Unable to use a TTY\b|If you don't see a command prompt"),
    ("words of kubectl", r"the input device is not a TTY|pod \"[^\"]{1,250}\" deleted"),
    ("words of a shell", r"Last login: |Script (?:started|done)\b|nohup: "),
    ("words of a shell", r"(?:real|user|sys)[ \t]+(?:[0-9]+m)?[0-9.]+s?$"),
    ("words of a shell", r"(?:exit|logout|clear|EOF|EOT)$|Connection to \S+ closed"),
    (
        "words of a pager",
        r"--More--(?: ?\([0-9]{1,3}%\))?$|:$|Press (?:any key|SPACE)\b",
    ),
    (
        "words of a pager",
        r"lines [0-9]{1,9}-[0-9]{1,9}(?:/[0-9]{1,9} ?(?:[0-9]{1,3}%)?)?"
        r"(?: ?\((?:END|[0-9]{1,3}%)\))?$",
    ),
    ("words of a shell", r"\[sudo\] password for \S{1,80}:|\(END\)$|Welcome to \S+ "),
    (
        "words of a shell",
        rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?:[A-Z][a-z]{{2}} +[0-9]{{1,2}}"
        rf"|[0-9]{{1,2}} +[A-Z][a-z]{{2}}(?: +[0-9]{{4}})?) +{_TIME} ",
    ),
    ("words of a shell", rf"{_DATE}[T ]{_TIME}{_ZONE}$|===> |uid=[0-9]+\("),
    (
        "words of curl",
        r"% Total +% Received|Dload +Upload"
        r"|[0-9 .kMG]{10,90}(?:--:--:--|[0-9]:[0-9]{2}:[0-9]{2}) ",
    ),
    ("words of curl", r"(?:< )?HTTP/[0-9.]{1,3} 2[0-9]{2}\b"),
    ("words of curl", r"> (?:GET|POST) (?=/)|[<>] [A-Za-z-]{2,40}: |[<>]$"),
    (
        "words of curl",
        r"\* (?:Connect(?:ed to|ion #)|Trying|Host|ALPN|SSL|TLS|Server|Using|Mark)\b",
    ),
    ("words of wget", rf"--{_DATE} {_TIME}--|{_DATE} {_TIME} \("),
    (
        "words of curl",
        r"(?i:content-(?:type|length|encoding)|transfer-encoding|cache-control|date"
        r"|server|connection|vary|keep-alive): ",
    ),
    ("a heading", r"#{2,6} |\*\*?[^*\n]{1,200}\*\*?:?$|__[^_\n]{1,200}__:?$"),
    ("a heading", r"={1,6} (?=[A-Za-z])|h[1-6]\. "),
    ("a rule", r"(?:-{4,80}|={4,80}|\*{4,80}|_{4,80}|#{4,80})$"),
    ("words of PowerShell", r"At line:[0-9]+ char:[0-9]+|\+[ \t]*~{3,}"),
    ("words of PowerShell", r"\+ (?:CategoryInfo|FullyQualifiedErrorId)[ \t]*:"),
    (
        FENCE,
        r"(?:`{3,}|~{3,})[ \t]*(?:[\w+.-]{0,20}[ \t]*)(?:\{[^`{}\n]{0,200}\}"
        r"|(?:[\w-]{1,40}=(?:\"[^\"`\n]{0,200}\"|\S{1,100})[ \t]*){1,9})?[ \t]*$",
    ),
    (FENCE, r"\{(?:code|noformat|quote)(?::[^}\n]{0,60})?\}$"),
    (FENCE, r"\[/?(?:code|source|quote|listing)(?:[,=][\w, =-]{0,60})?\]$"),
    (FENCE, r"(?:</?(?:pre|code|details|p|div|blockquote)(?: [^>\n]{0,100})?>){1,3}$"),
    (FENCE, r"(?:<details>)?<summary>[^<\n]{0,200}(?:</summary>)?$"),
    (
        PROMPT,
        r"(?:\([\w.-]{1,60}\) ?)?\[[^\]\[\s\"{]{1,80}@[^\]\[\"{\n]{1,250}\]"
        rf"[ ]?[$#%>]{_AFTER}",
    ),
    (
        PROMPT,
        r"(?:\([\w.-]{1,60}\) ?)?(?:I have no name!|[A-Za-z_][\w.+-]{0,80})@"
        rf"[\w.-]{{1,250}}(?:[: ][^$#%>\t\n]{{0,250}})?[ ]?[$#%>]{_AFTER}",
    ),
    (PROMPT, r"\S{1,80}@\S{1,250} (?:MINGW|MSYS|UCRT|CLANG)\w* .{0,250}$"),
    (
        PROMPT,
        r"PS(?: (?:[A-Za-z]:[\\/]|[\\/~])[^>\n]{0,250})?>"
        rf"(?:{_COMMAND}|{_AFTER})",
    ),
    (PROMPT, rf"[A-Za-z]:\\[^>|\"*?\n]{{0,250}}>(?:{_COMMAND})?"),
    (PROMPT, rf"(?:ba|z|k|da|a)?sh-[0-9][\w.]{{0,10}}[$#]{_AFTER}"),
    (PROMPT, rf"(?:[~/][\w./-]{{0,250}} ?[$#%]|~ \u276f){_AFTER}"),
    (
        PROMPT,
        rf"[A-Za-z][\w.-]{{1,80}}:[^\s:$]{{1,250}} [a-z_][\w.-]{{0,40}}\${_AFTER}",
    ),
    ("a comment", r"# Source: \S{1,250}$"),
    (PROMPT, rf"#(?! *(?:HELP|TYPE|EOF)\b){_AFTER}"),
    (LOG, r"%[0-7]\|[0-9.]{1,30}\|[A-Z_]{1,30}\|"),
    (
        PROMPT,
        r"(?!% (?:ERROR|FATAL)\b)(?:[$%\u276f\u279c\u00bb]|\u279c[ ]+\S{1,250})"
        rf"{_AFTER}",
    ),
    (PROMPT, r">{1,2}(?= *$| +-| +\S*kafka-)"),
    (PROMPT, rf"\+{{1,5}} (?:{_COMMAND}|(?=[\w./'\"$\[(]))"),
    (COMMAND, _COMMAND),
    (COMMAND, r"(?:cat|less|more|head|tail|cd|ls|type|Get-Content)[ \t]+[\w./~\\:-]+$"),
    (
        COMMAND,
        r"(?:cat|zcat|less|more|head|tail|cd|ls|grep|jq|history|echo)"
        r"(?=[ \t][^\n]*(?:\||&&|;|>)[ \t]*\w)",
    ),
    (
        COMMAND,
        r"(?:export|unset|alias)(?=[ \t]+\w+(?:=|[ \t]*$))|set (?=[-+][a-z]{1,5}$)",
    ),
    (COMMAND, r"k(?=[ \t]+(?:exec|-n|get|logs|run)[ \t])"),
)
_ANY = re.compile("|".join(f"(?:{pattern})" for _, pattern in _KINDS))
_EACH = tuple((kind, re.compile(pattern)) for kind, pattern in _KINDS)
_WORD = re.compile(r"[(\"'`]*[A-Za-z][A-Za-z'\u2019-]*[.,:;!?)\"'`]*")
_HEADING_WORD = re.compile(r"(?:[A-Za-z][a-z'\u2019-]*|[A-Z]{2,})[:!?]?")
_LIST_ITEM = re.compile(r"^(?:[0-9]{1,2}[.)]|[*\u2022-]|//) ")
_NO_WORDS = re.compile(r"\t| {3}|[={}\[\]|]|\.\.\.|…")
_FAILURE = re.compile(
    r"(?:% )?(?:ERROR|FATAL|Error|error)(?::| while | when | executing )"
    r"|Exception in thread |Failed to |Aborted\b|Timed out "
    r"|(?:[a-z][\w$]*\.){1,12}[A-Z][\w$]*(?:Exception|Error)\b"
    r"|Skip getting offsets for |command terminated with exit code"
    r"|Could not connect to "
    r"|(?:\S{1,80}: )?\S{1,80}: (?:command not found|No such file)"
    r"|Consumer group [`'\"].{1,250}[`'\"] does not exist"
    r"|Exiting due to: "
    r"|Unrecognized (?:VM )?option\b|Killed$"
)
_TRACE = re.compile(
    r"\s+at (?:[\w.$/@-]+/)?[\w.$<>]{1,300}\([^)]{0,200}\)"
    r"|\s*(?:Caused by|Suppressed): |\s+\.\.\. [0-9]+ (?:more|common frames)"
)
_LOGGED_FAILURE = re.compile(
    rf"\[?{_DATE}[T ]{_TIME}.{{0,60}}\b(?:ERROR|FATAL)\b.*"
    r"\((?:kafka\.admin|kafka\.tools|org\.apache\.kafka\.tools)\.\S+\)\s*$"
)
_LOGGED_SETTING = re.compile(r"\s+[a-z][a-z0-9._-]{1,80} =(?: |$)")


def noise_of(line: str) -> Noise | None:
    """
    Return the noise of a line that is certainly not data; `None` if it may be data.

    Examples
    --------
    >>> noise_of("[root@node-7 ~]# bin/kafka-topics.sh --describe").kind
    'a shell prompt'
    >>> noise_of("orders  0  12") is None
    True
    """
    stripped = line.strip()[:_MAX_LINE]
    if not _ANY.match(stripped) or _LOGGED_FAILURE.match(stripped):
        return None
    for kind, pattern in _EACH:
        found = pattern.match(stripped)
        if found is not None:
            return Noise(kind, shown(found[0]))
    return None


def shown(text: str) -> str:
    """Return the printable start of a text, shortened for messages."""
    printable = "".join(c if c.isprintable() else " " for c in text).strip()
    return printable if len(printable) <= _MAX_SHOWN else f"{printable[:_MAX_SHOWN]}…"


def is_words(line: str) -> bool:
    """
    Return whether a line is a sentence of a person or of a tool, and not data.

    At least 70 % of the tokens must be plain words, the first one included. The line
    must not contain a list, a setting, an ellipsis, a tab or three spaces in a row. A
    line of one or two words must end like a heading or an exclamation.

    Examples
    --------
    >>> is_words("Here is what we get:"), is_words("Replicas: 1,2  Isr: 1,2")
    (True, False)
    >>> is_words("Output:"), is_words("orders")
    (True, False)
    """
    stripped = _LIST_ITEM.sub("", line.strip())
    if len(stripped) > _MAX_LINE or _NO_WORDS.search(stripped):
        return False
    tokens = stripped.split()
    if len(tokens) < 3:
        is_ended = stripped.endswith((":", "!", "?"))
        return is_ended and all(map(_HEADING_WORD.fullmatch, tokens))
    is_word = [_WORD.fullmatch(token) is not None for token in tokens]
    return is_word[0] and sum(is_word) >= 0.7 * len(tokens)


def tool_failure(line: str) -> bool:
    """
    Return whether a line reports the failure of a tool, so that output may be cut.

    Examples
    --------
    >>> tool_failure("Error while executing topic command : Timed out")
    True
    """
    stripped = line.strip()[:_MAX_LINE]
    return bool(_FAILURE.match(stripped) or _LOGGED_FAILURE.match(stripped))


def is_stack_trace(line: str) -> bool:
    """Return whether a line continues the exception above it."""
    return _TRACE.match(line[:_MAX_LINE]) is not None


def is_logged_setting(line: str) -> bool:
    """Return whether a line is one of the settings that a client logs at start-up."""
    return _LOGGED_SETTING.match(line[:_MAX_LINE]) is not None
