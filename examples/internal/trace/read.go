package trace

import (
	"fmt"
	"io"
	"os"
)

// Read reads one log: plain, gzip or zstd, in any of the formats that this package knows, told apart by content. The
// name is used in errors. It fails if r does, or if there is nothing to read: an empty or a foreign input, named in one
// line. Whatever is wrong inside a log is counted in Log.Faults. Memory is that of the attempts, plus at most 64 MB for
// the longest record and 128 MB for what a zstd stream refers back to.
func Read(r io.Reader, name string) (*Log, error) {
	log, err := readAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return log, nil
}

// Open reads the log in a file, or in a rolling log directory of Spark: eventlog_v2_<application>.
func Open(path string) (*Log, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return openRolling(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

func readAll(r io.Reader) (*Log, error) {
	in, err := newInput(r)
	if err != nil {
		return nil, err
	}
	defer in.close()
	format, err := in.format()
	if err != nil {
		return nil, err
	}
	var b *builder
	switch format {
	case Spark:
		s := newSpark()
		s.read(newLineReader(in, maxRecord, unwantedEvent))
		b = s.builder
	case Rumen:
		b = readRumen(in, maxRecord)
	default:
		b = readLines(newLineReader(in, maxRecord, nil))
	}
	if err := in.end(&b.log.Faults); err != nil {
		return nil, err
	}
	return b.finish(), nil
}
