package restarttest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
)

// check replays a journal and returns a description of the first answer that differs, or "" if no answer differs. The
// function compared returns the part of an answer that is compared.
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
	// Both journals have the same events.
	for i := range want {
		if slices.EqualFunc(want[i].answers, got[i].answers, func(w, g string) bool { return compared(w) == compared(g) }) {
			continue
		}
		return compare(file, want[i], got[i], compared) + facts(data, o, want[i].line) + actedByOther(file, data, o)
	}
	return actedByOther(file, data, o)
}

// actedByOther returns the text of an error if another policy than the replayed policy has acted in the journal.
// Otherwise it returns "".
func actedByOther(file string, data []byte, o journal.Options) string {
	if _, err := touches(file, data, o); err != nil {
		return err.Error()
	}
	return ""
}

// whole returns the whole answer: nothing is left out of the comparison.
func whole(answer string) string { return answer }

// actions returns only the action, the task and the attempt of a decision, so that nothing else is compared.
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

// block is an event of a journal, and the answers below the event.
type block struct {
	// The number of the line of the event.
	line int
	text string
	// The answers, without indentation.
	answers []string
	// The numbers of the lines of the answers.
	at []int
}

// blocks returns the events of a journal with their answers. The journal must be valid.
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

// compare returns a text with an event and the first answer that differs.
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

// pick returns the answer at index i, or "(nothing)" if there is none.
func pick(answers []string, i int) string {
	if i < len(answers) {
		return answers[i]
	}
	return "(nothing)"
}

// facts replays the journal once more. It returns a text with the facts that the policy received for the event on the
// given line.
func facts(data []byte, o journal.Options, line int) string {
	// The largest number of decisions that are shown for one event.
	const most = 5
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
