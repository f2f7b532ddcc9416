// Package junit reads reports of tests in JUnit's XML, even if the XML is broken. Reports contain the output of
// tests, and this output may be anything.
package junit

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The elements at which reading goes on after an error in the XML.
const (
	Suite  = "testsuite"
	Case   = "testcase"
	suites = "testsuites"
)

// Read calls begin for each element that begins, and end with the local name for each element that ends, even if the
// two do not match. It returns the number of errors in the XML, and whether the report stops halfway, which is not
// counted as an error. After an error, reading goes on at the next suite or test. A test that was open has ended
// then, and the suites around it stay open. Characters that XML forbids are read as spaces, without an error. The
// memory that Read needs is the length of the longest text.
func Read(in io.Reader, begin func(*xml.StartElement), end func(local string)) (mistakes int, half bool) {
	r := &resumed{Reader: bufio.NewReaderSize(&legible{in: bufio.NewReaderSize(in, 1<<16)}, 1<<16)}
	open := map[string]int{}
	for {
		err := r.until(open, begin, end)
		if open[Case] > 0 {
			end(Case)
			open[Case] = 0
			half = true
		}
		if errors.Is(err, io.EOF) || !r.next(open, end) {
			var wrong *xml.SyntaxError
			if errors.As(err, &wrong) && wrong.Msg != "unexpected EOF" {
				mistakes++
			} else if err != io.EOF {
				half = true
			}
			return mistakes, half || open[Suite]+open[suites] > 0
		}
		mistakes++
		half = false
	}
}

// until reads up to an error or io.EOF, and counts the open elements.
func (r *resumed) until(open map[string]int, begin func(*xml.StartElement), end func(local string)) error {
	x := xml.NewDecoder(r)
	x.Strict = false
	x.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // legible has already converted the text to UTF-8
	for {
		token, err := x.RawToken()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			open[t.Name.Local]++
			begin(&t)
		case xml.EndElement:
			if open[t.Name.Local] > 0 {
				open[t.Name.Local]--
				end(t.Name.Local)
			}
		}
	}
}

// resumed reads the rest of the report. It begins with the name of an element that was read before.
type resumed struct {
	*bufio.Reader
	head string
}

func (r *resumed) ReadByte() (byte, error) {
	if r.head == "" {
		return r.Reader.ReadByte()
	}
	b := r.head[0]
	r.head = r.head[1:]
	return b, nil
}

// Read is only needed for io.Reader. A decoder does not call it, because it reads single bytes if it can.
func (r *resumed) Read(p []byte) (int, error) {
	return io.MultiReader(strings.NewReader(r.head), r.Reader).Read(p)
}

// next goes on to the beginning of the next suite or test, and calls end for the suites that end before it.
func (r *resumed) next(open map[string]int, end func(string)) bool {
	for r.head = ""; ; {
		if _, err := r.ReadSlice('<'); errors.Is(err, bufio.ErrBufferFull) {
			continue
		} else if err != nil {
			return false
		}
		name, _ := r.Peek(len("/" + suites))
		switch element, isEnd := bytes.CutPrefix(name, []byte("/")); {
		case isEnd && bytes.HasPrefix(element, []byte(Suite)) && !bytes.HasSuffix(name, []byte("s")) && open[Suite] > 0:
			open[Suite]--
			end(Suite)
		case !isEnd && (bytes.HasPrefix(element, []byte(Case)) || bytes.HasPrefix(element, []byte(Suite))):
			r.head = "<"
			return true
		}
	}
}

// latin1 matches the beginning of a report in ISO-8859-1. XML is in UTF-8 unless its first line has another encoding.
var latin1 = regexp.MustCompile(`^\s*<\?xml[^>]*encoding\s*=\s*["'](?i:iso[-_]?8859-1|latin-?1|windows-1252|cp1252)["']`)

// legible converts a report to UTF-8. It replaces control characters, which XML forbids, by spaces: tests print
// colours with them. It reads a byte that is not valid UTF-8 as a character of ISO-8859-1.
type legible struct {
	in    *bufio.Reader
	begun bool
	latin bool   // the first line has the encoding ISO-8859-1
	rest  []byte // the rest of a character that did not fit into the buffer
}

func (l *legible) Read(p []byte) (n int, err error) {
	if !l.begun {
		head, _ := l.in.Peek(256)
		l.begun, l.latin = true, latin1.Match(head)
	}
	n = copy(p, l.rest)
	l.rest = l.rest[n:]
	for n < len(p) {
		if n > 0 && l.in.Buffered() == 0 {
			return n, nil
		}
		c, err := l.in.ReadByte()
		switch {
		case err != nil:
			return n, err
		case c < utf8.RuneSelf:
			if c < ' ' && c != '\t' && c != '\n' && c != '\r' {
				c = ' '
			}
			p[n] = c
			n++
		default:
			character := utf8.AppendRune(nil, l.character(c))
			k := copy(p[n:], character)
			l.rest = append(l.rest, character[k:]...)
			n += k
		}
	}
	return n, nil
}

// character reads a character that begins with a byte outside ASCII.
func (l *legible) character(c byte) rune {
	if l.latin || l.in.UnreadByte() != nil {
		return rune(c)
	}
	r, size, err := l.in.ReadRune()
	if err != nil || r == utf8.RuneError && size == 1 {
		return rune(c)
	}
	return r
}
