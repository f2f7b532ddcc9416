package trace

import (
	"fmt"
	"io"
)

// Read reads one log: plain, or packed with gzip, zstd, lz4, snappy or bzip2, in any of the formats that this package
// knows, told apart by content. The name is used in errors. It fails if r does, or if there is nothing to read: an
// empty or a foreign input, named in one line. Whatever is wrong inside a log is counted in Log.Faults. Memory is
// that of the attempts, plus at most 100 MB for the longest record, of at most 32 MB, and 128 MB for what a zstd
// stream refers back to.
func Read(r io.Reader, name string) (*Log, error) {
	log, err := readAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Printable(name), err)
	}
	return log, nil
}

func readAll(r io.Reader) (*Log, error) {
	in, err := newInput(r)
	defer in.close()
	if err != nil {
		return nil, err
	}
	format, err := in.format()
	if err != nil {
		return nil, err
	}
	b := format.read(in)
	if err := in.end(&b.log.Faults); err != nil {
		return nil, err
	}
	return b.finish(), nil
}
