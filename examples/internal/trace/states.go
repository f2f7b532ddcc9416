package trace

import "fmt"

// State tells how an attempt ended.
type State uint8

// The states. The zero value is Unfinished: the log shows no end.
const (
	Unfinished State = iota
	Succeeded
	Failed // failed, also because its executor or its input was lost while it ran
	Killed
	Lost   // succeeded, but its output was lost later, so another attempt did the work again
	Cached // did not run: the result is from a cache, and the times, if any, are those of the run that filled it
)

var stateNames = [...]string{
	Unfinished: "unfinished", Succeeded: "succeeded", Failed: "failed", Killed: "killed", Lost: "lost",
	Cached: "cached",
}

func (s State) String() string { return name(stateNames[:], int(s), "State") }

// MarshalText returns the text of String. It never fails.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Locality is the distance of an attempt from its input.
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

var localityNames = [...]string{
	LocalityUnknown: "", ProcessLocal: "PROCESS_LOCAL", NodeLocal: "NODE_LOCAL", NoPreference: "NO_PREF",
	RackLocal: "RACK_LOCAL", Any: "ANY",
}

func (l Locality) String() string {
	if l == LocalityUnknown {
		return "unknown"
	}
	return name(localityNames[:], int(l), "Locality")
}

// MarshalText returns Spark's name of the level. It never fails.
func (l Locality) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Answer is yes, no, or unknown, which is the zero value.
type Answer uint8

// The answers.
const (
	AnswerUnknown Answer = iota
	No
	Yes
)

var answerNames = [...]string{AnswerUnknown: "unknown", No: "no", Yes: "yes"}

func (a Answer) String() string { return name(answerNames[:], int(a), "Answer") }

// MarshalJSON returns true, false or null.
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

// find returns the index of a name in names, from 1 on; 0 if it is not there.
func find(names []string, what []byte) int {
	for i := 1; i < len(names); i++ {
		if names[i] == string(what) {
			return i
		}
	}
	return 0
}
