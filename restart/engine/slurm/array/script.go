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

// wrapper is the template of the batch script around the user's script.
var wrapper = template.Must(template.New("wrapper.sh").Parse(wrapperText))

// directive begins a line with options for sbatch.
const directive = "#SBATCH"

// header returns the lines of a script in which sbatch looks for options: the comments before the first command. It
// removes --wait, and returns an error for the first option that does not work with this package.
func header(script []byte) (string, error) {
	if !bytes.HasPrefix(script, []byte("#!")) {
		return "", errors.New("the script does not begin with #! and the path of an interpreter")
	}
	var lines strings.Builder
	for i, line := range strings.SplitAfter(string(script), "\n") {
		switch text := strings.TrimSpace(line); {
		case i == 0, text == "":
		case text[0] == '#': // an indented #SBATCH stays indented: it is a comment to sbatch
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

// batchScript returns the script that is submitted in place of the user's script: the user's options and the wrapper. The
// attempt's name is a shell word. env are shell assignments with quoted values.
func batchScript(header, run, attempt string, env []string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("#!/bin/bash\n" + header)
	err := wrapper.Execute(&b, struct {
		Run, Attempt string
		Env          []string
	}{quote(run), attempt, env})
	return b.Bytes(), err
}

// quote quotes any text as one shell word.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
