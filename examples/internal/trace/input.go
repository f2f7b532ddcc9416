package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// input is a decompressed stream. If a compressed stream breaks, the readers see its end there.
type input struct {
	text   *bufio.Reader
	source *source
	layers []func() // functions that close the layers, the innermost last
	cut    error    // the error of the compressed stream
}

// source stores the error of the original reader, to tell a failing disk from a broken stream.
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

const (
	sniffed   = 64 << 10 // bytes of the text from which the format is recognised
	maxLayers = 3        // largest number of compressions, one inside another
)

func newInput(r io.Reader) (*input, error) {
	in := &input{source: &source{r: r}}
	in.text = bufio.NewReaderSize(in.source, sniffed)
	for {
		start, err := in.text.Peek(512)
		switch {
		case in.source.err != nil:
			return in, in.source.err
		case len(start) == 0 && len(in.layers) == 0:
			return in, errors.New("the file is empty")
		case len(start) == 0:
			return in, unpackable(err)
		}
		kind := packingOf(start)
		switch {
		case kind.advice != "":
			return in, errors.New(kind.advice)
		case kind.unpack == nil:
			return in, in.skipMark()
		case len(in.layers) == maxLayers:
			return in, fmt.Errorf("the file is compressed more than %d times: unpack it first", maxLayers)
		}
		text, done, err := kind.unpack(in.text)
		if err != nil {
			return in, err
		}
		in.layers = append(in.layers, done)
		in.text = bufio.NewReaderSize(text, sniffed)
	}
}

// skipMark skips a byte order mark.
func (in *input) skipMark() error {
	if mark, _ := in.text.Peek(3); string(mark) == "\uFEFF" {
		_, err := in.text.Discard(len(mark))
		return err
	}
	return nil
}

// unpackable returns the error for a compressed file of which nothing can be read.
func unpackable(err error) error {
	switch {
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("a zstd file that needs more than %d MB to unpack: unpack it first with zstd -d --long=31",
			maxWindow>>20)
	case err != nil && !errors.Is(err, io.EOF):
		return fmt.Errorf("the file cannot be unpacked: %w", err)
	}
	return errors.New("the file is not text")
}

// close frees the memory of the decompression.
func (in *input) close() {
	for _, done := range slices.Backward(in.layers) {
		done()
	}
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

// end returns the error of the original reader, and counts a broken stream as a fault.
func (in *input) end(faults *Faults) error {
	if in.source.err != nil {
		return in.source.err
	}
	if in.cut != nil {
		faults[CutStream]++
	}
	return nil
}

// format recognises the format from the beginning of the text, without consuming it.
func (in *input) format() (reader, error) {
	text, err := in.text.Peek(sniffed)
	if in.source.err != nil {
		return reader{}, in.source.err
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return reader{}, unpackable(err)
	}
	if r, ok := formatOf(text); ok {
		return r, nil
	}
	return reader{}, foreign(text)
}
