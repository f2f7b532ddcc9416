package trace

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The length of a name in bytes, from which on it is cut, and to which.
const (
	longName = 256
	keptName = 200
)

// Printable makes text from a log, or a file's name, harmless to print: what is not graphic, such as control
// characters, escape sequences, line breaks and marks that turn the direction of the text, is written as Go would
// write it in a string literal, \x1b; what is not UTF-8 becomes U+FFFD. It allocates nothing if nothing is to be
// done.
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

// nameOf makes a name of what a log holds: printable, and of bounded length. A long one is cut and marked with its
// hash, so that names that differ stay different.
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
