package array

import (
	"bytes"
	_ "embed"
	"errors"
	"strings"
	"text/template"
)

//go:embed wrapper.sh
var wrapperText string

var wrapper = template.Must(template.New("wrapper.sh").Parse(wrapperText))

// magic is how lines with options begin.
const magic = "#SBATCH"

// header returns the lines of a script in which sbatch looks for options: the comments before its first command. It reports
// the first option that does not fit.
func header(script []byte) (string, error) {
	if !bytes.HasPrefix(script, []byte("#!")) {
		return "", errors.New("the script does not begin with #! and the path of an interpreter")
	}
	var lines strings.Builder
	for i, line := range strings.SplitAfter(string(script), "\n") {
		switch text := strings.TrimSpace(line); {
		case i == 0, text == "":
		case text[0] == '#': // as it is: to sbatch an indented #SBATCH is a comment
			line = without(wait, strings.TrimSuffix(line, "\n"))
			if err := checkOptions(words(line)); err != nil {
				return "", err
			}
			lines.WriteString(line + "\n")
		default:
			return lines.String(), nil
		}
	}
	return lines.String(), nil
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
