import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Properties;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Sends a record per key with the producer of an older Kafka, and says where each went.
 *
 * The words are those of `Records` in `Tools.java`. The first line of stdout has the
 * partitions in the order in which the client holds them, which round robin follows; then
 * a line per record: its partition.
 */
class OlderRecords {
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
            System.out.println(producer.partitionsFor(words[1]).stream()
                    .map(each -> String.valueOf(each.partition()))
                    .collect(Collectors.joining(" ")));
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
