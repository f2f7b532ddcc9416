package array

import (
	"fmt"
	"regexp"
	"strings"
)

// sbatchOption is an option of sbatch: its name and its letter, or 0 if the option has no letter. sbatch accepts any
// beginning of the name that no other option shares.
type sbatchOption struct {
	name   string
	letter byte
}

var (
	wait = sbatchOption{"wait", 'W'} // sbatch waits for the end of the job
	hold = sbatchOption{"hold", 'H'} // the job waits until somebody releases it

	// refusedOptions are the options that do not work with this package.
	refusedOptions = []sbatchOption{wait, {"clusters", 'M'}, {"test-only", 0}, {"wrap", 0}}
)

// flagLetters are the letters of options without a value. One word may hold several letters. The letter of any other
// option takes the rest of the word as its value.
const flagLetters = "hHOQsuvVW"

// at returns the position of the option's letter in a word, 0 if the word is the option's name, and -1 if the word does
// not have the option.
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
		case strings.IndexByte(flagLetters, word[i]) < 0:
			return -1
		}
	}
	return -1
}

// outOf removes an option without a value from a word.
func (o sbatchOption) outOf(word string) string {
	for at := o.at(word); at >= 0; at = o.at(word) {
		if word = word[:at] + word[at+1:]; at == 0 || word == "-" { // the word is the option's name, or has no other letter
			return ""
		}
	}
	return word
}

// lineWord matches a word of a line #SBATCH, as sbatch reads it: quotes and backslashes may hold spaces together.
var lineWord = regexp.MustCompile(`(?:[^\s'"\\]|'[^']*'|"(?:\\.|[^"\\])*"|\\.)+`)

// unquote removes quotes and backslashes from a word.
var unquote = strings.NewReplacer(`"`, "", `'`, "", `\`, "")

// words lists the words of a line #SBATCH. Any other line has no words.
func words(line string) []string {
	if !strings.HasPrefix(line, directive) {
		return nil
	}
	found := lineWord.FindAllString(line[len(directive):], -1)
	for i := range found {
		found[i] = unquote.Replace(found[i])
	}
	return found
}

// without removes an option from a line #SBATCH.
func without(o sbatchOption, line string) string {
	if !strings.HasPrefix(line, directive) {
		return line
	}
	return directive + lineWord.ReplaceAllStringFunc(line[len(directive):], func(word string) string {
		if o.at(unquote.Replace(word)) < 0 {
			return word
		}
		return o.outOf(unquote.Replace(word))
	})
}

// withoutHold removes the option --hold from a header: nobody would release a copy.
func withoutHold(header string) string {
	var lines strings.Builder
	for line := range strings.Lines(header) {
		lines.WriteString(without(hold, strings.TrimSuffix(line, "\n")) + "\n")
	}
	return lines.String()
}

// copied returns the options of sbatch for copies: all options except --hold.
func copied(options []string) (kept []string) {
	for _, o := range options {
		if o = hold.outOf(o); o != "" {
			kept = append(kept, o)
		}
	}
	return kept
}

// checkOptions returns an error for the first option of sbatch that does not work with this package.
func checkOptions(options []string) error {
	for _, word := range options {
		for _, o := range refusedOptions {
			if o.at(word) >= 0 {
				return fmt.Errorf("the sbatch option %s does not work with straggler-slurm", word)
			}
		}
	}
	return nil
}
