package trace

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// stateWords are the words of engines and people for the states, in lower case and without spaces.
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
		Cached: "cached",
	} {
		for word := range strings.FieldsSeq(words) {
			stateWords[word] = state
		}
	}
}

// stateOf returns the state of a word. Of several words, as in "CANCELLED by 1000", the first is used. A hint at the end has the
// first few unknown words.
func (b *builder) stateOf(text []byte) State {
	word, _, _ := bytes.Cut(bytes.ToLower(bytes.TrimSpace(text)), []byte(" "))
	state, ok := stateWords[string(word)]
	if !ok {
		b.log.Faults[UnknownState]++
		b.states = firstFew(b.states, word)
	}
	return state
}

// knownFields are the fields of the normal form, for a hint.
const knownFields = "job, phase, task, attempt, start, finish, state, host, rack, executor, input, shuffle, output, ready, " +
	"speculative, locality, preferred, splits, name, tasks, submitted, completed, after, kin, family, cores"

// unknownFields records unknown fields of a record. A hint at the end has the first few.
func (b *builder) unknownFields(keys [][]byte) {
	for _, key := range keys {
		b.unknown = firstFew(b.unknown, key)
	}
}

// firstFew adds a word to the first few different words.
func firstFew(words []string, word []byte) []string {
	const most = 8
	if len(words) == most || slices.Contains(words, string(word)) {
		return words
	}
	return append(words, string(word))
}

// nameUnknown adds hints about unknown fields and unknown words of states.
func (b *builder) nameUnknown() {
	if len(b.unknown) > 0 {
		b.hint(fmt.Sprintf("unknown fields, ignored: %s; the known fields are %s", quotedWords(b.unknown), knownFields))
	}
	if len(b.states) > 0 {
		b.hint(fmt.Sprintf("unknown states: %s; the known states are succeeded, failed, killed, lost, cached, skipped and unfinished",
			quotedWords(b.states)))
	}
}

func quotedWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = fmt.Sprintf("%q", nameOf([]byte(word)))
	}
	return strings.Join(quoted, ", ")
}
