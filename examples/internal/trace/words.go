package trace

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// stateWords are what engines and people call the states, in small letters and without blanks.
var stateWords = map[string]State{}

func init() {
	for state, words := range map[State]string{
		Unfinished: "unfinished running pending queued waiting in_progress scheduled requeued restarting deferred " +
			"created initializing deploying reconciling canceling launching up_for_reschedule",
		Succeeded: "succeeded success successful ok completed complete done finished passed pass",
		Failed: "failed failure fail error errored exception timeout timed_out node_fail out_of_memory boot_fail deadline " +
			"startup_failure",
		Killed: "killed cancelled canceled preempted aborted stopped revoked removed up_for_retry shutdown",
		Lost:   "lost",
	} {
		for word := range strings.FieldsSeq(words) {
			stateWords[word] = state
		}
	}
}

// stateOf reads a state by any of its words; of several, as in "CANCELLED by 1000", the first counts.
func stateOf(text []byte, faults *Faults) State {
	word, _, _ := bytes.Cut(bytes.ToLower(bytes.TrimSpace(text)), []byte(" "))
	state, ok := stateWords[string(word)]
	if !ok {
		faults[UnknownState]++
	}
	return state
}

// knownFields are those of the normal form.
const knownFields = "job, phase, task, attempt, start, finish, state, host, rack, executor, input, shuffle, output, ready, " +
	"speculative, locality, preferred, splits, name, tasks, submitted, completed, after, kin, family, cores"

// unknownFields notes the fields of a record that are not known; the first few are named at the end.
func (b *builder) unknownFields(keys [][]byte) {
	const most = 8
	for _, key := range keys {
		if len(b.unknown) == most || slices.Contains(b.unknown, string(key)) {
			continue
		}
		b.unknown = append(b.unknown, string(key))
	}
}

func (b *builder) nameUnknownFields() {
	if len(b.unknown) == 0 {
		return
	}
	names := make([]string, len(b.unknown))
	for i, key := range b.unknown {
		names[i] = fmt.Sprintf("%q", nameOf([]byte(key)))
	}
	b.hint(fmt.Sprintf("unknown fields, ignored: %s; the known fields are %s", strings.Join(names, ", "), knownFields))
}
