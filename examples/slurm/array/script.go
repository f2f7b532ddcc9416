package array

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

//go:embed wrapper.sh
var wrapperText string

var wrapper = template.Must(template.New("wrapper.sh").Parse(wrapperText))

// Options that do not fit, as words of a line or of the command line: one that would have sbatch wait for the end of the
// job, and one for which a copy would wait for somebody to release it.
var (
	waitWord = regexp.MustCompile(`(^|\s)(-W|--wait)(\s|$)`)
	holdWord = regexp.MustCompile(`(^|\s)(-H|--hold)(\s|$)`)
)

// magic is how lines with options begin.
const magic = "#SBATCH"

// header returns the lines of a script in which sbatch looks for options: the comments before its first command.
func header(script []byte) (string, error) {
	if !bytes.HasPrefix(script, []byte("#!")) {
		return "", errors.New("the script does not begin with #! and the path of an interpreter")
	}
	var lines strings.Builder
	for i, line := range strings.SplitAfter(string(script), "\n") {
		switch text := strings.TrimSpace(line); {
		case i == 0, text == "":
		case text[0] == '#': // as it is: to sbatch an indented #SBATCH is a comment
			lines.WriteString(without(waitWord, strings.TrimSuffix(line, "\n")) + "\n")
		default:
			return lines.String(), nil
		}
	}
	return lines.String(), nil
}

// without takes an option out of a line #SBATCH.
func without(word *regexp.Regexp, line string) string {
	if !strings.HasPrefix(line, magic) {
		return line
	}
	return word.ReplaceAllString(line, " ")
}

// unheld is a header for copies.
func unheld(header string) string {
	var lines strings.Builder
	for line := range strings.Lines(header) {
		lines.WriteString(without(holdWord, strings.TrimSuffix(line, "\n")) + "\n")
	}
	return lines.String()
}

// copied returns the options of sbatch that copies have too.
func copied(options []string) []string {
	return slices.DeleteFunc(slices.Clone(options), holdWord.MatchString)
}

// checkOptions reports the first option of sbatch with which there is no run.
func checkOptions(options []string) error {
	for _, o := range options {
		name, _, _ := strings.Cut(o, "=")
		switch name {
		case "-W", "--wait", "--test-only", "--wrap", "-M", "--clusters":
			return fmt.Errorf("the option %s of sbatch does not fit here", name)
		}
	}
	return nil
}

// batchScript returns what is submitted in the place of the user's script: its options, then the wrapper. The attempt's
// name is a shell word, and env are assignments, quoted.
func batchScript(header, run, attempt string, env []string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("#!/bin/bash\n" + header)
	err := wrapper.Execute(&b, struct {
		Run, Attempt string
		Env          []string
	}{quote(run), attempt, env})
	return b.Bytes(), err
}

// quote makes one shell word of any text.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
