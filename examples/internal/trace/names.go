package trace

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nameOf cuts a name that is longer than the first length, in bytes, to the second.
const (
	longName = 256
	keptName = 200
)

// Printable makes text from a log, or the name of a file, safe to print. Control characters, escape sequences, line
// breaks and marks for the direction of text are written as in a Go string literal, such as \x1b. Invalid UTF-8
// becomes U+FFFD. It allocates nothing if the text does not change.
func Printable(text string) string {
	if plain(text) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if unicode.IsGraphic(r) {
			out.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		out.WriteString(quoted[1 : len(quoted)-1])
	}
	return out.String()
}

// plain says whether text is graphic ASCII.
func plain[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// nameOf returns a name from a log as a printable text of bounded length. A long name is cut, and its hash is added,
// so that different names stay different.
func nameOf(raw []byte) string {
	if len(raw) <= longName && plain(raw) {
		return string(raw)
	}
	name := Printable(string(raw))
	if len(name) <= longName {
		return name
	}
	end := keptName
	for !utf8.RuneStart(name[end]) {
		end--
	}
	h := fnv.New64a()
	_, _ = h.Write(raw) // never fails
	return fmt.Sprintf("%s…%016x", name[:end], h.Sum64())
}
