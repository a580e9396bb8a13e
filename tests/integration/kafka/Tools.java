import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.IntegerSerializer;
import org.apache.kafka.common.serialization.LongSerializer;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.serialization.UUIDSerializer;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;

/**
 * Runs Kafka's command line tools and `Nodes`, one after the other, in one JVM that stays.
 *
 * A request is the number of words, then each word: the main class and its arguments. The
 * reply is the exit code, then what was written to stdout and to stderr, each with its
 * length before it. The end of the requests ends the JVM.
 */
class Tools {
    /** Stands for the end of the process, which a tool asks for. */
    static class Ended extends Error {
        Ended() {
            super(null, null, false, false);
        }
    }

    /** What the tool that runs has asked to exit with first, if it has. */
    static Integer asked;

    public static void main(String[] none) throws Exception {
        var requests = new DataInputStream(System.in);
        System.setIn(InputStream.nullInputStream());
        var replies = new DataOutputStream(
                new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)));
        var out = new ByteArrayOutputStream();
        var err = new ByteArrayOutputStream();
        // Before any tool is there: Scala's console keeps the stream it finds first.
        System.setOut(new PrintStream(out, true));
        System.setErr(new PrintStream(err, true));
        Exit.setExitProcedure(Tools::end);
        Exit.setHaltProcedure(Tools::end);
        while (true) {
            String[] words;
            try {
                words = new String[requests.readInt()];
            } catch (EOFException closed) {
                Runtime.getRuntime().halt(0);
                return;
            }
            for (int i = 0; i < words.length; i++) {
                words[i] = requests.readUTF();
            }
            replies.writeInt(run(words));
            for (var text : new ByteArrayOutputStream[] {out, err}) {
                byte[] written;
                // Nodes of a cluster may log meanwhile.
                synchronized (text) {
                    written = text.toByteArray();
                    text.reset();
                }
                replies.writeInt(written.length);
                replies.write(written);
            }
            replies.flush();
        }
    }

    static void end(int status, String message) {
        if (asked == null) {
            asked = status;
        }
        throw new Ended();
    }

    static int run(String[] words) throws ReflectiveOperationException {
        var arguments = new String[words.length - 1];
        System.arraycopy(words, 1, arguments, 0, arguments.length);
        asked = null;
        int status = 0;
        try {
            Class.forName(words[0]).getMethod("main", String[].class)
                    .invoke(null, (Object) arguments);
        } catch (InvocationTargetException failed) {
            if (!(failed.getCause() instanceof Ended)) {
                failed.getCause().printStackTrace();
                status = 1;
            }
        }
        return asked == null ? status : asked;
    }
}

/**
 * Nodes of clusters that share this JVM, by their properties files.
 *
 * A node in a JVM of its own takes a second of processor time to start, and then runs on
 * code that is not compiled yet.
 */
class Nodes {
    static final Map<String, KafkaRaftServer> RUNNING = new ConcurrentHashMap<>();
    static final ExecutorService THREADS = Executors.newCachedThreadPool();

    /** The words: `start`, `stop`, or `leave`, which does not wait; and the files. */
    public static void main(String[] words) throws Exception {
        var files = Arrays.asList(words).subList(1, words.length);
        switch (words[0]) {
            case "start" -> all(files, Nodes::start);
            case "stop" -> all(files, Nodes::stop);
            // The controller is the first: brokers that shut down in order ask it.
            case "leave" -> THREADS.submit(() -> {
                all(files.subList(1, files.size()), Nodes::stop);
                stop(files.get(0));
                return null;
            });
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    interface Step {
        void run(String file) throws Exception;
    }

    static void all(List<String> files, Step step) throws Exception {
        var running = new ArrayList<Future<?>>();
        for (var file : files) {
            running.add(THREADS.submit(() -> {
                step.run(file);
                return null;
            }));
        }
        for (var one : running) {
            one.get();
        }
    }

    static void start(String file) throws Exception {
        var settings = new Properties();
        try (var stream = new FileInputStream(file)) {
            settings.load(stream);
        }
        var server = new KafkaRaftServer(KafkaConfig.fromProps(settings), Time.SYSTEM);
        RUNNING.put(file, server);
        // Returns after the controller has unfenced the broker.
        server.startup();
    }

    static void stop(String file) {
        var server = RUNNING.remove(file);
        if (server != null) {
            server.shutdown();
            server.awaitShutdown();
        }
    }
}

/**
 * Sends a record per key with Kafka's own producer, and says where each went.
 *
 * The words: the brokers, the topic, `name=value` settings, `--`, and the keys in hex, `-`
 * for none. The first line of stdout has the partitions in the order in which the client
 * holds them, which round robin follows; then a line per record: its partition. It runs
 * with older clients as well.
 */
class Records {
    public static void main(String[] words) throws Exception {
        var all = Arrays.asList(words);
        int end = all.indexOf("--");
        var settings = new Properties();
        settings.put("bootstrap.servers", words[0]);
        for (var setting : all.subList(2, end)) {
            var parts = setting.split("=", 2);
            settings.put(parts[0], parts[1]);
        }
        var bytes = new ByteArraySerializer();
        var sent = new ArrayList<Future<RecordMetadata>>();
        try (var producer = new KafkaProducer<byte[], byte[]>(settings, bytes, bytes)) {
            // It draws only of partitions whose leaders it knows.
            while (producer.partitionsFor(words[1]).stream()
                    .anyMatch(each -> each.leader() == null || each.leader().isEmpty())) {
                Thread.sleep(20);
            }
            for (var each : producer.partitionsFor(words[1])) {
                System.out.print(each.partition() + " ");
            }
            System.out.println();
            for (var word : all.subList(end + 1, all.size())) {
                var key = word.equals("-") ? null : HexFormat.of().parseHex(word);
                sent.add(producer.send(new ProducerRecord<>(words[1], key, new byte[100])));
            }
        }
        for (var one : sent) {
            System.out.println(one.get().partition());
        }
    }
}

/**
 * Serialize keys, given as UTF-8 in hex, by Kafka's serializer of a type and an encoding,
 * and print bytes, murmur2, and its positive value.
 */
class Serialized {
    public static void main(String[] words) throws Exception {
        var serializer = serializer(words[0]);
        serializer.configure(Map.of("key.serializer.encoding", words[1]), true);
        for (var word : Arrays.asList(words).subList(2, words.length)) {
            var text = new String(HexFormat.of().parseHex(word.substring(1)), "UTF-8");
            var bytes = serializer.serialize("t", value(words[0], text));
            int hash = Utils.murmur2(bytes);
            var hex = HexFormat.of().formatHex(bytes);
            System.out.println("=" + hex + " " + hash + " " + Utils.toPositive(hash));
        }
    }

    @SuppressWarnings("unchecked")
    static Serializer<Object> serializer(String type) {
        return (Serializer<Object>) (Object) switch (type) {
            case "int" -> new IntegerSerializer();
            case "long" -> new LongSerializer();
            case "uuid" -> new UUIDSerializer();
            default -> new StringSerializer();
        };
    }

    static Object value(String type, String text) {
        return switch (type) {
            case "int" -> Integer.valueOf(text);
            case "long" -> Long.valueOf(text);
            case "uuid" -> UUID.fromString(text);
            default -> text;
        };
    }
}
