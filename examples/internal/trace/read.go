package trace

import (
	"fmt"
	"io"
)

// Read reads one log, plain or compressed with gzip, zstd, lz4, snappy or bzip2, in any known format. It recognises
// the format by content. The name is used in errors. It returns an error if r returns an error, or if the input is
// empty or not a log; the error is one line. Errors inside the log are counted in Log.Faults. Read needs memory for
// the attempts, at most 100 MB for the longest record, of at most 32 MB, and 128 MB for the window of a zstd stream.
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
	if err := in.end(b.log); err != nil {
		return nil, err
	}
	return b.finish(), nil
}
