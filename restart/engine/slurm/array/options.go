package array

import (
	"fmt"
	"regexp"
	"strings"
)

// sbatchOption is one of sbatch's: its name, of which any beginning will do that no other option has, and its letter, or 0.
type sbatchOption struct {
	name   string
	letter byte
}

var (
	wait = sbatchOption{"wait", 'W'} // has sbatch wait for the end of the job
	hold = sbatchOption{"hold", 'H'} // a copy would wait for somebody to release it

	unfit = []sbatchOption{wait, {"clusters", 'M'}, {"test-only", 0}, {"wrap", 0}}
)

// bare are the letters without a value. They can stand together; any other takes the rest of its word.
const bare = "hHOQsuvVW"

// at returns where in a word the option's letter is, 0 if the word is its name, and -1 if it is another option, or none.
func (o sbatchOption) at(word string) int {
	if long, is := strings.CutPrefix(word, "--"); is {
		name, _, _ := strings.Cut(long, "=")
		if name != "" && strings.HasPrefix(o.name, name) {
			return 0
		}
		return -1
	}
	for i := 1; i < len(word) && word[0] == '-'; i++ {
		switch {
		case word[i] == o.letter:
			return i
		case strings.IndexByte(bare, word[i]) < 0:
			return -1
		}
	}
	return -1
}

// outOf takes an option without a value out of a word.
func (o sbatchOption) outOf(word string) string {
	for at := o.at(word); at >= 0; at = o.at(word) {
		if word = word[:at] + word[at+1:]; at == 0 || word == "-" { // its name, or nothing else
			return ""
		}
	}
	return word
}

// lineWord is a word of a line #SBATCH, which may have quotes in it, as sbatch reads it.
var lineWord = regexp.MustCompile(`(?:[^\s'"\\]|'[^']*'|"(?:\\.|[^"\\])*"|\\.)+`)

var unquote = strings.NewReplacer(`"`, "", `'`, "", `\`, "")

// words lists the words of a line #SBATCH, and none of any other.
func words(line string) []string {
	if !strings.HasPrefix(line, magic) {
		return nil
	}
	found := lineWord.FindAllString(line[len(magic):], -1)
	for i := range found {
		found[i] = unquote.Replace(found[i])
	}
	return found
}

// without takes an option out of a line #SBATCH.
func without(o sbatchOption, line string) string {
	if !strings.HasPrefix(line, magic) {
		return line
	}
	return magic + lineWord.ReplaceAllStringFunc(line[len(magic):], func(word string) string {
		if o.at(unquote.Replace(word)) < 0 {
			return word
		}
		return o.outOf(unquote.Replace(word))
	})
}

// unheld is a header for copies.
func unheld(header string) string {
	var lines strings.Builder
	for line := range strings.Lines(header) {
		lines.WriteString(without(hold, strings.TrimSuffix(line, "\n")) + "\n")
	}
	return lines.String()
}

// copied returns the options of sbatch that copies have too.
func copied(options []string) (kept []string) {
	for _, o := range options {
		if o = hold.outOf(o); o != "" {
			kept = append(kept, o)
		}
	}
	return kept
}

// checkOptions reports the first option of sbatch with which there is no run.
func checkOptions(options []string) error {
	for _, word := range options {
		for _, o := range unfit {
			if o.at(word) >= 0 {
				return fmt.Errorf("the option %s of sbatch does not fit here", word)
			}
		}
	}
	return nil
}
