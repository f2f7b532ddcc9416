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

// Counts says how often each word was seen.
type Counts map[string]int

// buffer is how much of a text is in memory at once, and the longest word.
const buffer = 16 << 10

// CountWords adds the words of a text to the counts. A word is what stands between spaces, without punctuation and
// without regard to case.
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

// CountFiles counts the words of files directly, as the answer to check against.
func CountFiles(names []string) (Counts, error) { return fromFiles(names, Counts.CountWords) }

// fromFiles collects counts from files, by one of the methods that read.
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

// Total is how many words were seen in all.
func (c Counts) Total() (n int) {
	for _, k := range c {
		n += k
	}
	return n
}

// Split deals the words out to partitions, the same word always to the same one.
func (c Counts) Split(partitions int) []Counts {
	parts := make([]Counts, partitions)
	for i := range parts {
		parts[i] = Counts{}
	}
	for w, n := range c {
		h := fnv.New32a()
		_, _ = h.Write([]byte(w)) // it never fails
		parts[h.Sum32()%uint32(partitions)][w] = n
	}
	return parts
}

// WriteTo writes one line per word, in the words' order.
func (c Counts) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	for _, word := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&b, "%s %d\n", word, c[word])
	}
	return b.WriteTo(w)
}

// Add reads what WriteTo wrote and adds it to the counts.
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

// Diff returns one readable line for each of the first few words that differ, and nothing if the counts are the same.
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
