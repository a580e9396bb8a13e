import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import org.apache.kafka.common.utils.Exit;

/**
 * Runs Kafka's command line tools, one after the other, in one JVM that stays.
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
                replies.writeInt(text.size());
                text.writeTo(replies);
                text.reset();
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
