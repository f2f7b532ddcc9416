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

// wrapper is the template of the batch script that Slurm runs. This script calls the user's script, and records its
// begin and its end in files.
var wrapper = template.Must(template.New("wrapper.sh").Parse(wrapperText))

// directive is the beginning of a script's line that contains options for sbatch.
const directive = "#SBATCH"

// header returns the lines of a user's script in which sbatch looks for options: the comment lines before the first
// command. header removes the option --wait. It returns an error if an option does not work with this package.
func header(script []byte) (string, error) {
	if !bytes.HasPrefix(script, []byte("#!")) {
		return "", errors.New("the script does not begin with #! and the path of an interpreter")
	}
	var lines strings.Builder
	for i, line := range strings.SplitAfter(string(script), "\n") {
		switch text := strings.TrimSpace(line); {
		case i == 0, text == "":
		case text[0] == '#': // an indented #SBATCH line keeps its indentation, because sbatch takes it for a comment
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

// batchScript returns the batch script that is submitted in place of the user's script: the #SBATCH lines of the
// user's script, and the wrapper. run is the path of the run directory. attempt is the name of the attempt, as a word
// that the shell expands. env contains shell assignments such as SLURM_ARRAY_TASK_COUNT=64.
func batchScript(header, run, attempt string, env []string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("#!/bin/bash\n" + header)
	err := wrapper.Execute(&b, struct {
		Run, Attempt string
		Env          []string
	}{quote(run), attempt, env})
	return b.Bytes(), err
}

// quote puts a text into single quotes, so that the shell reads the text as one word.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
