package array

import (
	"fmt"
	"regexp"
	"strings"
)

// sbatchOption is an option of sbatch, such as --hold with the letter H, as in -H. The letter is 0 if the option has
// none. sbatch accepts any beginning of an option's name by which it can tell the option, for example --hol.
type sbatchOption struct {
	name   string
	letter byte
}

var (
	wait = sbatchOption{"wait", 'W'} // with it, sbatch waits until the job has ended
	hold = sbatchOption{"hold", 'H'} // with it, the job waits in the queue until the user releases it

	// refusedOptions are options of sbatch that do not work with this package, so an error is returned for them.
	refusedOptions = []sbatchOption{wait, {"clusters", 'M'}, {"test-only", 0}, {"wrap", 0}}
)

// flagLetters are the letters of sbatch's options that have no value. One word may contain several of these letters,
// as in -Hv. After any other letter, the rest of the word is the value of the option.
const flagLetters = "hHOQsuvVW"

// at reports whether a word of a command line contains the option. It returns 0 if the word is the option's name,
// such as --hold. It returns the position of the option's letter if the word contains the letter, such as 1 for H in
// -Hv. Otherwise it returns -1.
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

// outOf removes the option o from a word of a command line. For example, it returns -v for the word -Hv and the
// option -H. The option must be an option without a value.
func (o sbatchOption) outOf(word string) string {
	for at := o.at(word); at >= 0; at = o.at(word) {
		// nothing is left: the word was the option's name, or contained no other letter
		if word = word[:at] + word[at+1:]; at == 0 || word == "-" {
			return ""
		}
	}
	return word
}

// lineWord matches one word of a line that begins with #SBATCH, as sbatch splits such a line. A space between quotes,
// or after a backslash, does not end a word.
var lineWord = regexp.MustCompile(`(?:[^\s'"\\]|'[^']*'|"(?:\\.|[^"\\])*"|\\.)+`)

// unquote removes all quotes and backslashes from a word.
var unquote = strings.NewReplacer(`"`, "", `'`, "", `\`, "")

// words returns the words of a line that begins with #SBATCH. For any other line it returns nil.
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

// without returns the line without the option o. A line that does not begin with #SBATCH is returned unchanged.
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

// withoutHold removes the option --hold from the #SBATCH lines of a script. With --hold a copy would wait in the
// queue for ever, because nobody would release it.
func withoutHold(header string) string {
	var lines strings.Builder
	for line := range strings.Lines(header) {
		lines.WriteString(without(hold, strings.TrimSuffix(line, "\n")) + "\n")
	}
	return lines.String()
}

// copied returns the options with which sbatch submits a copy: all options of the user's array except --hold.
func copied(options []string) (kept []string) {
	for _, o := range options {
		if o = hold.outOf(o); o != "" {
			kept = append(kept, o)
		}
	}
	return kept
}

// checkOptions returns an error if an option in the list does not work with this package. The options are for sbatch.
// The error is about the first such option.
func checkOptions(options []string) error {
	for _, word := range options {
		for _, o := range refusedOptions {
			if o.at(word) >= 0 {
				return fmt.Errorf("array: Options.Sbatch has %s, want options other than --wait, --clusters, --test-only and --wrap",
					word)
			}
		}
	}
	return nil
}
