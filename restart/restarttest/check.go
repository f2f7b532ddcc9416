package restarttest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
)

// check replays a journal and describes the first answer that differs. The function compared maps an answer to
// the part that is compared. check returns "" if no answer differs.
func check(file string, data []byte, o journal.Options, compared func(answer string) string) string {
	o.OnDecision, o.OnAnswer = nil, nil
	fresh, err := journal.Replay(data, o)
	if err != nil {
		return fmt.Sprintf("%s: %v", file, err)
	}
	if !decides(data) {
		return fmt.Sprintf("%s: the journal holds no decision, want at least one; -restart.rewrite writes the answers", file)
	}
	want, got := blocks(data), blocks(fresh)
	for i := range want { // both journals have the same events
		if slices.EqualFunc(want[i].answers, got[i].answers, func(w, g string) bool { return compared(w) == compared(g) }) {
			continue
		}
		return compare(file, want[i], got[i], compared) + facts(data, o, want[i].line) + actedByOther(file, data, o)
	}
	return actedByOther(file, data, o)
}

// actedByOther returns an error text if another policy has acted in the journal, or "".
func actedByOther(file string, data []byte, o journal.Options) string {
	if _, err := touches(file, data, o); err != nil {
		return err.Error()
	}
	return ""
}

// whole compares the whole answer.
func whole(answer string) string { return answer }

// actions compares only a decision's action, task and attempt.
func actions(answer string) string {
	task, words, ok := decision(answer)
	if !ok {
		return answer
	}
	attempt := ""
	for _, word := range words {
		if strings.HasPrefix(word, "attempt=") {
			attempt = word
		}
	}
	return task + words[0] + attempt
}

// decision splits a decision into its task, which is empty if the event names the task, and its other words. The
// first of these is the action. The result is false for another answer.
func decision(answer string) (task string, words []string, ok bool) {
	words = strings.Fields(answer)
	if len(words) > 1 && strings.HasPrefix(words[0], "task=") {
		task, words = words[0], words[1:]
	}
	return task, words, len(words) > 1 && new(restart.Action).UnmarshalText([]byte(words[0])) == nil
}

// block is an event and the answers below it.
type block struct {
	line    int // line of the event
	text    string
	answers []string // without indentation
	at      []int    // lines of the answers
}

// blocks reads a journal that is known to be valid.
func blocks(data []byte) []block {
	var all []block
	number := 0
	for text := range strings.Lines(string(data)) {
		number++
		trimmed := strings.TrimSpace(text)
		switch {
		case trimmed == "" || trimmed[0] == '#':
		case text[0] == ' ' || text[0] == '\t':
			last := &all[len(all)-1]
			last.answers, last.at = append(last.answers, trimmed), append(last.at, number)
		default:
			all = append(all, block{line: number, text: trimmed})
		}
	}
	return all
}

// decides reports whether any answer of the journal is a decision.
func decides(data []byte) bool {
	for _, b := range blocks(data) {
		for _, answer := range b.answers {
			if _, _, ok := decision(answer); ok {
				return true
			}
		}
	}
	return false
}

// compare shows an event and its first answer that differs.
func compare(file string, want, got block, compared func(string) string) string {
	i := 0
	for i < len(want.answers) && i < len(got.answers) && compared(want.answers[i]) == compared(got.answers[i]) {
		i++
	}
	line := want.line
	if i < len(want.at) {
		line = want.at[i]
	}
	return fmt.Sprintf("%s:%d: the answer differs\n  event: %s\n  got:   %s\n  want:  %s\n", file, line, want.text,
		pick(got.answers, i), pick(want.answers, i))
}

// pick returns answer i, or "(nothing)".
func pick(answers []string, i int) string {
	if i < len(answers) {
		return answers[i]
	}
	return "(nothing)"
}

// facts replays the journal once more and shows the facts that the policy got for the event on the line.
func facts(data []byte, o journal.Options, line int) string {
	const most = 5 // decisions shown for one event
	var b bytes.Buffer
	n := 0
	o.OnDecision = func(at int, t restart.Task, p restart.Phase, d restart.Decision) {
		if at != line {
			return
		}
		if n++; n <= most {
			describe(&b, t, p, d)
		}
	}
	if _, err := journal.Replay(data, o); err != nil {
		return fmt.Sprintf("  (with an observer the journal does not replay: %v)\n", err)
	}
	switch {
	case n == 0:
		return "  the policy was not asked\n"
	case n > most:
		fmt.Fprintf(&b, "  and %d more\n", n-most)
	}
	return b.String()
}
