// Package junit finds the elements of a report of tests in JUnit's XML, also of one that is no XML: reports hold what tests
// print, and tests print anything.
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

// The elements behind a mistake that are found again.
const (
	Suite  = "testsuite"
	Case   = "testcase"
	suites = "testsuites"
)

// Read calls begin for each element that begins, and end for each that ends, by their local names, whether they match or
// not. It returns how many mistakes it met, and whether the report stops halfway, which is none. What stands behind a mistake
// is read on from the next suite or test; a test that was open has ended, and the suites around it go on. Characters that
// XML forbids are blanks, and no mistake. Memory is that of the longest text.
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

// until reads on until a mistake, or io.EOF, and counts what is open.
func (r *resumed) until(open map[string]int, begin func(*xml.StartElement), end func(local string)) error {
	x := xml.NewDecoder(r)
	x.Strict = false
	x.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 by now
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

// resumed is what is left to read, with an element's name that was taken off before.
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

// Read is never called: a decoder reads bytes if it can.
func (r *resumed) Read(p []byte) (int, error) {
	return io.MultiReader(strings.NewReader(r.head), r.Reader).Read(p)
}

// next goes on to where the next suite or test begins, and tells of the suites that end before.
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

// latin1 is the beginning of a report that is not in UTF-8, which is what XML is in unless it says otherwise.
var latin1 = regexp.MustCompile(`^\s*<\?xml[^>]*encoding\s*=\s*["'](?i:iso[-_]?8859-1|latin-?1|windows-1252|cp1252)["']`)

// legible is a report in UTF-8, without the characters below a blank that XML has no place for: tests print in colours,
// and these become blanks. A byte of no character of UTF-8 is one of ISO-8859-1.
type legible struct {
	in    *bufio.Reader
	begun bool
	latin bool   // the report says that it is in ISO-8859-1
	rest  []byte // of a character that had no room
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

// character reads on from a byte that is none of ASCII.
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
