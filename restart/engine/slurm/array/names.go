package array

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// pattern returns the pattern of an output file's name, from the name that squeue shows. For a job array without a
// pattern of its own, Slurm 22.05 shows the default name of a plain job; pattern returns the default pattern of an
// array.
func (j Job) pattern(shown string) string {
	if shown == filepath.Join(j.WorkDir, "slurm-"+j.RawID+".out") {
		return filepath.Join(literal(j.WorkDir), "slurm-%A_%a.out")
	}
	return shown
}

// shared reports whether all tasks of an array have the same file under a pattern.
func shared(pattern string) bool {
	one, two := Job{ID: "1_1", RawID: "1"}, Job{ID: "1_2", RawID: "2"}
	return pattern != os.DevNull && expand(pattern, one) == expand(pattern, two)
}

// expand fills in the pattern of an output file's name. sbatch allows
//
//	%A the array's job ID    %a the task's index    %j, %J the task's own job ID    %x the job's name
//	%N the node              %u the user            %n, %s, %t node, step and task number within the job: 0, batch, 0
//
// with a width for zeros in front of a number, as in %4a, and %% for a percent sign. If there is a backslash anywhere, a
// percent sign has no meaning, and a backslash makes the next character a plain character. Slurm itself opens the output
// files of the originals; expand finds their names.
func expand(pattern string, j Job) string {
	if strings.Contains(pattern, `\`) {
		return escaped.ReplaceAllString(pattern, "$1")
	}
	array, task, _ := strings.Cut(j.ID, "_")
	var b strings.Builder
	for rest := pattern; rest != ""; {
		before, after, found := strings.Cut(rest, "%")
		b.WriteString(before)
		if !found {
			break
		}
		digits := strings.IndexFunc(after, func(r rune) bool { return r < '0' || r > '9' })
		if digits < 0 {
			b.WriteString("%" + after)
			break
		}
		width, _ := strconv.Atoi(after[:digits])
		kind := after[digits]
		rest = after[digits+1:]
		switch kind {
		case 'A':
			padded(&b, array, width)
		case 'a':
			padded(&b, task, width)
		case 'j', 'J':
			padded(&b, j.RawID, width)
		case 'n', 't':
			padded(&b, "0", width)
		case 's':
			b.WriteString("batch")
		case 'N':
			b.WriteString(j.Node)
		case 'x':
			b.WriteString(j.Name)
		case 'u':
			b.WriteString(userName())
		case '%':
			b.WriteByte('%')
		default:
			b.WriteString("%" + after[:digits+1])
		}
	}
	return b.String()
}

// padded writes a number with zeros in front, up to a width of at most 10.
func padded(b *strings.Builder, number string, width int) {
	fmt.Fprintf(b, "%s%s", strings.Repeat("0", max(0, min(width, 10)-len(number))), number)
}

// userName returns the name of this process's user, or "" if it is not known.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// escaped matches a backslash and the character after it.
var escaped = regexp.MustCompile(`\\(.?)`)

// literal returns a pattern that stands for exactly one file's name.
func literal(path string) string {
	if strings.Contains(path, `\`) {
		return strings.ReplaceAll(path, `\`, `\\`)
	}
	return strings.ReplaceAll(path, "%", "%%")
}
