package wordcount

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// vocabulary is the number of different words in the texts.
const vocabulary = 10000

// Generate writes a text file for each of the sizes, in bytes, to dir, and returns the names of the files. The
// frequencies of the words follow a power law, as in a natural language. The same seed gives the same text.
func Generate(dir string, sizes []int, seed uint64) ([]string, error) {
	random := rand.New(rand.NewPCG(seed, 0))
	frequency := rand.NewZipf(random, 1.2, 4, vocabulary-1)
	names := make([]string, len(sizes))
	for i, size := range sizes {
		names[i] = filepath.Join(dir, fmt.Sprintf("chunk-%03d.txt", i))
		if err := writeText(names[i], size, random, frequency); err != nil {
			return nil, err
		}
	}
	return names, nil
}

func writeText(name string, size int, random *rand.Rand, frequency *rand.Zipf) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	for written, left := 0, 0; written < size; left-- {
		text := word(int(frequency.Uint64()))
		if left <= 0 { // a sentence begins
			left = 5 + random.IntN(12)
			text = strings.ToUpper(text[:1]) + text[1:]
		}
		if left == 1 {
			text += ".\n"
		} else {
			text += " "
		}
		n, _ := out.WriteString(text) // Flush returns the error
		written += n
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return file.Close()
}

// word writes a number as syllables. Each number has its own word, and low numbers have short words.
func word(n int) string {
	const consonants, vowels = "bdfghklmnprstvz", "aeiou"
	var b strings.Builder
	for n++; n > 0; n /= len(consonants) * len(vowels) {
		b.WriteByte(consonants[n%len(consonants)])
		b.WriteByte(vowels[n/len(consonants)%len(vowels)])
	}
	return b.String()
}
