// Prints the partitions that Sarama's hash partitioners give to keys, as JSON lines.
//
// go run . >vectors.jsonl
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"github.com/IBM/sarama"
)

type line struct {
	Key        string `json:"key_hex"`
	Partitions int32  `json:"partitions"`
	Hash       int32  `json:"hash"`
	Reference  int32  `json:"reference"`
}

func keys() [][]byte {
	found := [][]byte{{}, {0}, {0xff}, []byte("é€😀")}
	for n := 0; n < 100; n++ {
		found = append(found, []byte(fmt.Sprintf("customer-%d", n)))
	}
	for n := 0; n < 40; n++ {
		key := make([]byte, n)
		for at := range key {
			key[at] = byte(31*n + 7*at)
		}
		found = append(found, key)
	}
	return found
}

func place(of sarama.PartitionerConstructor, key []byte, partitions int32) int32 {
	message := &sarama.ProducerMessage{Topic: "t", Key: sarama.ByteEncoder(key)}
	found, err := of("t").Partition(message, partitions)
	if err != nil {
		panic(err)
	}
	return found
}

func main() {
	out := json.NewEncoder(os.Stdout)
	for _, key := range keys() {
		for _, partitions := range []int32{1, 3, 6, 7, 12, 100} {
			_ = out.Encode(line{
				Key:        hex.EncodeToString(key),
				Partitions: partitions,
				Hash:       place(sarama.NewHashPartitioner, key, partitions),
				Reference:  place(sarama.NewReferenceHashPartitioner, key, partitions),
			})
		}
	}
}
