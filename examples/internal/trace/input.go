package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// input is a stream with its compression undone. A compressed stream that breaks ends there, as far as readers see.
type input struct {
	text   *bufio.Reader
	source *source
	close  func()
	cut    error // why the compressed stream broke
}

// source remembers the error of the reader that was passed in, to tell a failing disk from a broken stream.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// sniffed is how much of the text is looked at to tell the format.
const sniffed = 64 << 10

// maxWindow is the most memory that a zstd stream may ask for, the same as the zstd command grants.
const maxWindow = 128 << 20

func newInput(r io.Reader) (*input, error) {
	in := &input{source: &source{r: r}, close: func() {}}
	raw := bufio.NewReaderSize(in.source, sniffed)
	start, _ := raw.Peek(512)
	var text io.Reader = raw
	switch kind := packing(start); {
	case in.source.err != nil:
		return nil, in.source.err
	case len(start) == 0:
		return nil, errors.New("the file is empty")
	case kind == "gzip":
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, fmt.Errorf("a gzip file broken in its header: %w", err)
		}
		text = z
	case kind == "zstd":
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("a zstd file broken in its header: %w", err)
		}
		text, in.close = z, z.Close
	case kind != "":
		return nil, errors.New(kind)
	}
	in.text = bufio.NewReaderSize(text, sniffed)
	if mark, _ := in.text.Peek(3); string(mark) == "\uFEFF" {
		_, err := in.text.Discard(len(mark))
		return in, err
	}
	return in, nil
}

func (in *input) Read(p []byte) (int, error) {
	if in.cut != nil {
		return 0, io.EOF
	}
	n, err := in.text.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		in.cut, err = err, io.EOF
	}
	return n, err
}

// end tells what the stream itself had to say: an error of the reader below, or a cut.
func (in *input) end(faults *Faults) error {
	if in.source.err != nil {
		return in.source.err
	}
	if in.cut != nil {
		faults[CutStream]++
	}
	return nil
}

// format tells the format from the beginning of the text, of which nothing is consumed.
func (in *input) format() (Format, error) {
	text, err := in.text.Peek(sniffed)
	if in.source.err != nil {
		return 0, in.source.err
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("nothing can be unpacked: %w", err)
		}
		return 0, errors.New("the file holds no text")
	}
	rest := text
	for tries := 0; len(rest) > 0 && tries < 20; tries++ { // the first lines may be broken
		if f, ok := formatOf(rest); ok {
			return f, nil
		}
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	return 0, foreign(text)
}
