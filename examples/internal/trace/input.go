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
	// skipped is the number of lines of text before the log that the readers do not see.
	skipped int
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

var errBlank = errors.New("the file has only blank lines")

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

// end returns the error of the original reader. It counts a broken stream, and the text before the log, as faults.
func (in *input) end(log *Log) error {
	if in.source.err != nil {
		return in.source.err
	}
	if in.cut != nil {
		log.Faults[CutStream]++
	}
	log.Records += in.skipped
	log.Faults[Broken] += in.skipped
	return nil
}

// format recognises the format, and consumes only text before the log, such as the output of a build: any number of
// lines. It counts them in skipped.
func (in *input) format() (reader, error) {
	var first []byte
	left := search{mostObjects, mostBefore}
	for {
		window, err := in.text.Peek(sniffed)
		if in.source.err != nil {
			return reader{}, in.source.err
		}
		text := bytes.TrimSpace(window)
		if len(text) == 0 && first == nil && errors.Is(err, io.EOF) {
			return reader{}, errBlank
		}
		r, ok := formatOf(text, &left)
		if !ok && first == nil && len(text) > 0 {
			r, ok = formatWithin(text)
			first = bytes.Clone(text)
		}
		switch {
		case ok:
			return r, nil
		case err != nil && !errors.Is(err, io.EOF) && first == nil:
			return reader{}, unpackable(err)
		case err != nil, left.objects == 0, bytes.IndexByte(text, 0) >= 0:
			return reader{}, foreign(first)
		}
		in.skip(window)
	}
}

// skip consumes the whole lines of the text that was looked at. A line that is longer is text, and is consumed in parts.
func (in *input) skip(window []byte) {
	n := bytes.LastIndexByte(window, '\n') + 1
	for line := range bytes.SplitSeq(window[:n], []byte("\n")) {
		if len(bytes.TrimSpace(line)) > 0 {
			in.skipped++
		}
	}
	if n == 0 {
		n = len(window)
	}
	_, _ = in.text.Discard(n) // the bytes are in the buffer
}
