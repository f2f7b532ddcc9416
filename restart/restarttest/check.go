package restarttest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// check replays a journal and describes the first difference between answers of which that is compared which of makes
// of them; "" if there is none.
func check(file string, data []byte, o journal.Options, of func(answer string) string) string {
	o.OnDecision = nil
	fresh, err := journal.Replay(data, o)
	if err != nil {
		return fmt.Sprintf("%s: %v", file, err)
	}
	if !decides(data) {
		return fmt.Sprintf("%s: the journal holds no decision; have them written with -restart.rewrite", file)
	}
	want, got := blocks(data), blocks(fresh)
	for i := range want { // both have the same events
		if slices.EqualFunc(want[i].answers, got[i].answers, func(w, g string) bool { return of(w) == of(g) }) {
			continue
		}
		return compare(file, want[i], got[i], of) + facts(data, o, want[i].line) + foreign(file, data, o)
	}
	return foreign(file, data, o)
}

// foreign says that another policy has acted in the journal, if so.
func foreign(file string, data []byte, o journal.Options) string {
	if _, err := touches(file, data, o); err != nil {
		return err.Error()
	}
	return ""
}

// whole compares an answer as it is.
func whole(answer string) string { return answer }

// actions compares of a decision its action, and which task and attempt it is about.
func actions(answer string) string {
	var a tracker.Answer
	if a.UnmarshalText([]byte(answer)) != nil || a.Reason == restart.NoReason {
		return answer
	}
	return fmt.Sprint(a.Task, a.Action, a.Attempt)
}

// block is an event with the answers below it.
type block struct {
	line    int // of the event
	text    string
	answers []string // without indentation
	at      []int    // their lines
}

// blocks reads a journal that is known to be sound.
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
			first, rest, _ := strings.Cut(answer, " ")
			if strings.HasPrefix(first, "task=") { // of next and sweep
				first, _, _ = strings.Cut(rest, " ")
			}
			for action := restart.Keep; action <= restart.Start; action++ {
				if first == action.String() {
					return true
				}
			}
		}
	}
	return false
}

// compare shows an event and the first of its answers that differs.
func compare(file string, want, got block, of func(string) string) string {
	i := 0
	for i < len(want.answers) && i < len(got.answers) && of(want.answers[i]) == of(got.answers[i]) {
		i++
	}
	line := want.line
	if i < len(want.at) {
		line = want.at[i]
	}
	return fmt.Sprintf("%s:%d: the answer differs\n  event: %s\n  got:   %s\n  want:  %s\n", file, line, want.text,
		pick(got.answers, i), pick(want.answers, i))
}

func pick(answers []string, i int) string {
	if i < len(answers) {
		return answers[i]
	}
	return "(nothing)"
}

// facts replays the journal once more and shows what the policy was given at the event on the line.
func facts(data []byte, o journal.Options, line int) string {
	const most = 5 // of the decisions that one event asks for
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
