package trace

import "fmt"

// State is how an attempt ended.
type State uint8

// The states. The zero value is Unfinished: the log shows no end.
const (
	Unfinished State = iota
	Succeeded
	Failed // also when its executor or its input went away while it ran
	Killed
	Lost // succeeded, and its output was lost later: its times are those of a success, its work was done again
)

var stateNames = [...]string{"unfinished", "succeeded", "failed", "killed", "lost"}

func (s State) String() string { return name(stateNames[:], int(s), "State") }

// MarshalText writes the state as String does.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Locality is how near to its input an attempt ran.
type Locality uint8

// The levels of Spark, nearest first. Rumen traces reach NodeLocal, RackLocal and Any.
const (
	LocalityUnknown Locality = iota
	ProcessLocal
	NodeLocal
	NoPreference
	RackLocal
	Any
)

var localityNames = [...]string{"", "PROCESS_LOCAL", "NODE_LOCAL", "NO_PREF", "RACK_LOCAL", "ANY"}

func (l Locality) String() string {
	if l == LocalityUnknown {
		return "unknown"
	}
	return name(localityNames[:], int(l), "Locality")
}

// MarshalText writes Spark's name of the level.
func (l Locality) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Answer is yes, no or, the zero value, unknown.
type Answer uint8

// The answers.
const (
	AnswerUnknown Answer = iota
	No
	Yes
)

var answerNames = [...]string{"unknown", "no", "yes"}

func (a Answer) String() string { return name(answerNames[:], int(a), "Answer") }

// MarshalJSON writes true, false or null.
func (a Answer) MarshalJSON() ([]byte, error) {
	switch a {
	case Yes:
		return []byte("true"), nil
	case No:
		return []byte("false"), nil
	}
	return []byte("null"), nil
}

func name(names []string, i int, kind string) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

// find returns the index of what in names, from 1 on, or 0.
func find(names []string, what []byte) int {
	for i := 1; i < len(names); i++ {
		if names[i] == string(what) {
			return i
		}
	}
	return 0
}
