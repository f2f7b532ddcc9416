package trace

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// packing is the compression of a file, recognised by its first bytes: a function that decompresses it, or an advice
// for the user.
type packing struct {
	magic  string
	unpack unpacker
	advice string
}

var packings = []packing{
	{magic: "\x1f\x8b", unpack: unpackGzip},
	{magic: "\x28\xb5\x2f\xfd", unpack: unpackZstd},
	{magic: "\x04\x22\x4d\x18", unpack: unpackLZ4},
	{magic: "LZ4Block", unpack: unpackLZ4Blocks},
	{magic: snappyMagic, unpack: unpackSnappyBlocks},
	{magic: "\xff\x06\x00\x00sNaPpY", unpack: unpackSnappy},
	{magic: "BZh", unpack: unpackBzip2},
	{magic: "ZV\x01", advice: "an lzf stream as Spark writes it: decompress it first with Spark's LZFCompressionCodec, " +
		"or have Spark log with spark.eventLog.compression.codec=zstd"},
	{magic: "\xfd7zXZ\x00", advice: "an xz file: decompress it first with xz -d"},
	{magic: "PK\x03\x04", advice: "a zip archive: unpack it first"},
	{magic: "Obj\x01", advice: "a binary Avro file: " + useTraceBuilder},
	{magic: "Avro-Binary", advice: "a Hadoop job history in binary Avro: " + useTraceBuilder},
	{magic: "\xff\xfe\x00\x00", advice: "text in UTF-32: " + useUTF8From("UTF-32")},
	{magic: "\x00\x00\xfe\xff", advice: "text in UTF-32: " + useUTF8From("UTF-32")},
	{magic: "\xff\xfe", advice: "text in UTF-16: " + useUTF8From("UTF-16")},
	{magic: "\xfe\xff", advice: "text in UTF-16: " + useUTF8From("UTF-16")},
}

const (
	useTraceBuilder = "turn it into a Rumen trace with Hadoop's TraceBuilder first, or have Hadoop write " +
		"mapreduce.jobhistory.jhist.format=json"
)

func useUTF8From(code string) string {
	return "turn it into UTF-8 first with iconv -f " + code + " -t UTF-8"
}

// packingOf returns the compression of a file, or an advice if the file is not a log. The result is empty for a file
// that may be text.
func packingOf(start []byte) packing {
	for _, p := range packings {
		if strings.HasPrefix(string(start), p.magic) {
			return p
		}
	}
	if len(start) > 3 && start[0]&0xf0 == 0x50 && string(start[1:4]) == "\x2a\x4d\x18" { // a skippable frame
		return packing{unpack: unpackZstd}
	}
	if len(start) > 262 && string(start[257:262]) == "ustar" {
		return packing{advice: "a tar archive: unpack it first with tar -xf"}
	}
	return packing{}
}

// foreign returns the error for a text of no known format. It names the option of a tool with which the tool writes a
// known format.
func foreign(text []byte) error {
	what := "text"
	if text[0] == '{' || text[0] == '[' {
		what = "JSON"
	}
	start := bytes.Join(bytes.Fields(text[:min(len(text), 200)]), []byte(" "))
	return fmt.Errorf("no execution log of a known format: %s that starts with %q; %s", what, start[:min(len(start), 40)],
		cmp.Or(option(text), elseLines))
}

const elseLines = "\"replay help format\" lists the known formats, and describes attempt lines, " +
	"into which other logs can be converted"

// option returns an advice for the output of a tool that can also write a known format; empty for any other text.
func option(text []byte) string {
	const columns = "--format=JobID,JobName,Submit,Start,End,State,NodeList"
	head, _, _ := bytes.Cut(text, []byte("\n"))
	head = bytes.ToLower(head)
	switch {
	case bytes.Contains(head, []byte("jobid ")) && bytes.Contains(text, []byte("\n-----")):
		return "this is Slurm's table for people: run sacct -a -P -D " + columns
	case text[0] == '{' && holds(text, `"jobs"`) && holds(text, `"allocation_nodes"`, `"association"`, `"slurm"`, `"Slurm"`):
		return "this is Slurm's JSON: run sacct -a -P -D " + columns + " without --json"
	}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		for _, begin := range []string{"=== RUN ", "--- PASS: ", "--- FAIL: ", "--- SKIP: ", "ok  \t", "FAIL\t", "?   \t"} {
			if bytes.HasPrefix(line, []byte(begin)) {
				return "this is the output of go test without times: run go test -json"
			}
		}
	}
	separators := bytes.Count(head, []byte(",")) + bytes.Count(head, []byte("\t")) + bytes.Count(head, []byte(";"))
	if separators > 1 && text[0] != '{' && text[0] != '[' {
		return "if a row is an attempt, the first line must name the columns phase, task, start and finish" + lacked(head) +
			"; if a row is a worker in a step, name the columns: -step, -worker, -seconds and -group; " + elseLines
	}
	return ""
}

// lacked writes which columns of a table of attempts a first line lacks, such as ", of which it lacks start and finish". It
// writes nothing if the line lacks all of them, because the line may name no columns.
func lacked(head []byte) string {
	fields := bytes.FieldsFunc(head, func(r rune) bool { return strings.ContainsRune(",;\t\r\" ", r) })
	var without []string
	wanted := []string{"phase", "task", "start", "finish"}
	for _, name := range wanted {
		if !slices.ContainsFunc(fields, func(f []byte) bool { return string(f) == name }) {
			without = append(without, name)
		}
	}
	if n := len(without); n > 0 && n < len(wanted) {
		return ", of which it lacks " + strings.Join(without, " and ")
	}
	return ""
}
