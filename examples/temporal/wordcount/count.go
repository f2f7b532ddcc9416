package wordcount

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Counts has the number of occurrences of each word.
type Counts map[string]int

// buffer is the number of bytes of a text that are in memory at once, and the length of the longest word.
const buffer = 16 << 10

// CountWords adds the words of a text to the counts. Spaces separate words. Punctuation at a word, and upper and
// lower case, make no difference.
func (c Counts) CountWords(text io.Reader) error {
	seen := map[string]*int{} // counts through a pointer: only a new word allocates
	in := bufio.NewScanner(text)
	in.Buffer(make([]byte, buffer), buffer)
	in.Split(bufio.ScanWords)
	for in.Scan() {
		w := bytes.ToLower(bytes.Trim(in.Bytes(), ".,;:!?\"'()"))
		if len(w) == 0 {
			continue
		}
		if n := seen[string(w)]; n != nil {
			*n++
			continue
		}
		n := 1
		seen[string(w)] = &n
	}
	for w, n := range seen {
		c[w] += *n
	}
	return in.Err()
}

// CountFiles counts the words of files without Temporal. The result is the right answer for Check.
func CountFiles(names []string) (Counts, error) { return fromFiles(names, Counts.CountWords) }

// fromFiles adds the counts of files; read is CountWords or Add.
func fromFiles(names []string, read func(Counts, io.Reader) error) (Counts, error) {
	c := Counts{}
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		err = read(c, file)
		_ = file.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return c, nil
}

// Total returns the number of words.
func (c Counts) Total() (n int) {
	for _, k := range c {
		n += k
	}
	return n
}

// Split assigns the words to partitions. A word always has the same partition.
func (c Counts) Split(partitions int) []Counts {
	parts := make([]Counts, partitions)
	for i := range parts {
		parts[i] = Counts{}
	}
	for w, n := range c {
		h := fnv.New32a()
		_, _ = h.Write([]byte(w)) // Write of a hash never fails
		parts[h.Sum32()%uint32(partitions)][w] = n
	}
	return parts
}

// WriteTo writes one line for each word, in alphabetical order.
func (c Counts) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	for _, word := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&b, "%s %d\n", word, c[word])
	}
	return b.WriteTo(w)
}

// Add reads the output of WriteTo and adds it to the counts.
func (c Counts) Add(r io.Reader) error {
	in := bufio.NewScanner(r)
	for in.Scan() {
		word, number, _ := strings.Cut(in.Text(), " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("line %q: %w", in.Text(), err)
		}
		c[word] += n
	}
	return in.Err()
}

// Diff returns a line for each of the first few words that differ; nil if the counts are equal.
func (c Counts) Diff(want Counts) (lines []string) {
	words := slices.Sorted(maps.Keys(c))
	for w := range want {
		if _, ok := c[w]; !ok {
			words = append(words, w)
		}
	}
	for _, w := range words {
		if c[w] != want[w] && len(lines) < 5 {
			lines = append(lines, fmt.Sprintf("%q: counted %d, is %d", w, c[w], want[w]))
		}
	}
	return lines
}
