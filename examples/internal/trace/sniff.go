package trace

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// Beginnings of files that are no plain text. "gzip" and "zstd" are undone here, the others named with advice.
var packings = []struct{ magic, kind string }{
	{"\x1f\x8b", "gzip"},
	{"\x28\xb5\x2f\xfd", "zstd"},
	{"\x04\x22\x4d\x18", "an lz4 file: decompress it first with lz4 -d"},
	{"LZ4Block", "an lz4 stream as Spark writes it, which the lz4 command cannot read: decompress it first with Spark's LZ4CompressionCodec, " +
		"or have Spark log with spark.eventLog.compression.codec=zstd"},
	{"\x82SNAPPY\x00", "a snappy stream as Spark writes it: decompress it first with snzip -d -t snappy-java"},
	{"\xff\x06\x00\x00sNaPpY", "a snappy file: decompress it first with snzip -d"},
	{"ZV", "an lzf stream as Spark writes it: decompress it first with Spark's LZFCompressionCodec"},
	{"BZh", "a bzip2 file: decompress it first with bzip2 -d"},
	{"\xfd7zXZ\x00", "an xz file: decompress it first with xz -d"},
	{"PK\x03\x04", "a zip archive: unpack it first"},
	{"Obj\x01", "a binary Avro file: " + useTraceBuilder},
	{"Avro-Binary", "a Hadoop job history in binary Avro: " + useTraceBuilder},
	{"Avro-Json", "a Hadoop job history (.jhist): " + useTraceBuilder},
	{"Meta VERSION=", "a Hadoop job history: " + useTraceBuilder},
}

const (
	useTraceBuilder = "turn it into a Rumen trace with Hadoop's TraceBuilder first"
	knownFormats    = "known are Spark event logs, Hadoop Rumen traces and attempt lines, each plain, gzip or zstd"
)

// packing names what the file is packed with, or what it is instead of a log; empty for what may be plain text.
func packing(start []byte) string {
	for _, p := range packings {
		if strings.HasPrefix(string(start), p.magic) {
			return p.kind
		}
	}
	if len(start) > 3 && start[0]&0xf0 == 0x50 && string(start[1:4]) == "\x2a\x4d\x18" { // a skippable frame
		return "zstd"
	}
	if len(start) > 262 && string(start[257:262]) == "ustar" {
		return "a tar archive: unpack it first"
	}
	return ""
}

// formatOf tells the format from the first object of text, which may be cut off anywhere.
func formatOf(text []byte) (format Format, ok bool) {
	c := cursor{data: bytes.TrimLeft(text, "[ \t\r\n")}
	if !c.enter('{') {
		return 0, false
	}
	keys, own := 0, 0
	for key, ok := c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "Event":
			return Spark, true
		case "jobID", "mapTasks":
			return Rumen, true
		case "phase":
			return Lines, true
		case "host", "rack", "executor", "cores":
			own++
		}
		keys++
		c.skip()
	}
	return Lines, !c.bad && own > 0 && own == keys
}

// foreign makes the error for a text of no known format.
func foreign(text []byte) error {
	if kind := packing(text); kind != "" {
		return errors.New(kind)
	}
	what := "text"
	if text[0] == '{' || text[0] == '[' {
		what = "JSON"
	}
	start := bytes.Join(bytes.Fields(text[:min(len(text), 200)]), []byte(" "))
	return fmt.Errorf("no execution log, but %s that starts with %q; %s", what, start[:min(len(start), 40)], knownFormats)
}
