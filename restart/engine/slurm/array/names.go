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

// pattern returns the pattern of an output file's name, such as "out-%a". shown is the pattern that squeue shows. If
// the user has set no pattern for a job array, Slurm 22.05 shows the default file name of a plain job. In this case
// pattern returns the default pattern of a job array, slurm-%A_%a.out in the job's directory.
func (j Job) pattern(shown string) string {
	if shown == filepath.Join(j.WorkDir, "slurm-"+j.RawID+".out") {
		return filepath.Join(literal(j.WorkDir), "slurm-%A_%a.out")
	}
	return shown
}

// shared reports whether a pattern for output files, such as "out-%a", gives the same file name for all tasks of an
// array. The file /dev/null is an exception: for it shared returns false.
func shared(pattern string) bool {
	one, two := Job{ID: "1_1", RawID: "1"}, Job{ID: "1_2", RawID: "2"}
	return pattern != os.DevNull && expand(pattern, one) == expand(pattern, two)
}

// expand returns the output file's name that Slurm makes from a pattern for the job j. A pattern may contain the
// following parts. expand replaces each part:
//
//	%A the array's job ID    %a the task's index    %j, %J the task's own job ID    %x the job's name
//	%N the node              %u the user            %n, %s, %t node, step and task number within the job: 0, batch, 0
//
// The letter of a number may have a width in front: for example, %4a gives the task's index with zeros in front, four
// digits in all. %% is replaced by a percent sign. If a pattern contains a backslash, percent signs have no special
// meaning in it. Then each backslash is removed, and the character after it stays. Slurm itself opens the output
// files of the user's array, and expand finds out their names.
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

// padded writes a number, with zeros in front if the number has fewer than width digits. A width above 10 is taken as
// 10.
func padded(b *strings.Builder, number string, width int) {
	fmt.Fprintf(b, "%s%s", strings.Repeat("0", max(0, min(width, 10)-len(number))), number)
}

// userName returns the name of the user who runs this process, or "" if the name is not known.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// escaped matches a backslash and the character after it.
var escaped = regexp.MustCompile(`\\(.?)`)

// literal returns an output pattern for sbatch that Slurm replaces by exactly the given path.
func literal(path string) string {
	if strings.Contains(path, `\`) {
		return strings.ReplaceAll(path, `\`, `\\`)
	}
	return strings.ReplaceAll(path, "%", "%%")
}
