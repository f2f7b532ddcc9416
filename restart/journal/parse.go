package journal

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
)

// Parse returns the events of a journal in order, without the answers. Where a line gives no machine, or its kind has
// none, Event.Machine is -1. An error names the line and what was wanted there. O(len(data)).
func Parse(data []byte) ([]Event, error) {
	var events []Event
	for l, err := range lines(data) {
		if err != nil {
			return nil, err
		}
		if l.class == eventLine {
			events = append(events, l.event)
		}
	}
	return events, nil
}

// UnmarshalText reads one line, with or without its end and a comment behind it. The error says what was wanted.
func (e *Event) UnmarshalText(text []byte) error {
	parsed, err := parseEvent(string(text))
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	*e = parsed
	return nil
}

// class is what a line of a journal is for.
type class uint8

const (
	eventLine class = iota
	answerLine
	otherLine // empty, or a comment
)

// line is one line of a journal.
type line struct {
	number int
	text   string // as it was read, without its end
	end    string // "\n" or "\r\n"
	class  class
	event  Event // of an eventLine
}

// lines reads a journal line by line and stops at the first error.
func lines(data []byte) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		number, answerable := 0, false
		for text := range strings.Lines(string(data)) {
			number++
			l := line{number: number, end: "\n", text: strings.TrimSuffix(text, "\n")}
			if cut, ok := strings.CutSuffix(l.text, "\r"); ok {
				l.text, l.end = cut, "\r\n"
			}
			err := l.read()
			switch {
			case err != nil:
			case l.class == eventLine:
				answerable = true
			case l.class == answerLine && !answerable:
				err = errors.New("an indented line is an answer, and no event stands before this one")
			}
			if err != nil {
				yield(line{}, fmt.Errorf("journal: line %d: %w", number, err))
				return
			}
			if !yield(l, nil) {
				return
			}
		}
	}
}

func (l *line) read() (err error) {
	trimmed := strings.TrimSpace(l.text)
	switch {
	case trimmed == "" || trimmed[0] == '#':
		l.class = otherLine
	case l.text[0] == ' ' || l.text[0] == '\t':
		l.class = answerLine
		err = checkAnswer(trimmed)
	default:
		l.event, err = parseEvent(l.text)
		l.event.Line = l.number
	}
	return err
}

// checkAnswer accepts what could be an answer. Rewriting drops the answers, so an event that was indented by mistake
// must not pass for one.
func checkAnswer(text string) error {
	first, _, _ := strings.Cut(text, " ")
	first, _, _ = strings.Cut(first, "=")
	for _, known := range answerWords {
		if first == known {
			return nil
		}
	}
	return fmt.Errorf("an indented line is an answer, want it to begin with one of %s, got %s",
		strings.Join(answerWords[:], ", "), quote(text))
}

func parseEvent(text string) (Event, error) {
	words := strings.Fields(text)
	for i, word := range words {
		if word[0] == '#' {
			words = words[:i]
			break
		}
	}
	if len(words) == 0 {
		return Event{}, errors.New("got an empty line, want an event")
	}
	e := Event{Machine: unknownMachine}
	at, err := time.ParseDuration(words[0])
	timed := err == nil
	if timed {
		e.At = at
		words = words[1:]
	}
	kind, words, err := parseKind(words)
	switch {
	case err != nil:
		return Event{}, err
	case kind.timed() && !timed:
		return Event{}, fmt.Errorf("%s has no time, want one before it, such as 10s %s", kind, kind)
	case !kind.timed() && timed:
		return Event{}, fmt.Errorf("%s has no time of its own, want none before it", kind)
	}
	e.Kind = kind
	return e, e.parseFields(words)
}

// parseKind takes the kind off the front of the line. What is lost stands behind "lose", with its number.
func parseKind(words []string) (Kind, []string, error) {
	if len(words) == 0 {
		return 0, nil, fmt.Errorf("got a time alone, want one of %s behind it", names(Start))
	}
	for k, name := range kindNames {
		if words[0] == name { // never a kind of two words
			return Kind(k), words[1:], nil
		}
	}
	if words[0] != "lose" {
		return 0, nil, fmt.Errorf("got %s, want a time or one of %s", quote(words[0]), names(Phase))
	}
	if len(words) == 2 && strings.HasPrefix(words[1], "machine=") {
		return LoseMachine, words[1:], nil
	}
	if len(words) == 2 && strings.HasPrefix(words[1], "task=") {
		return LoseOutput, words[1:], nil
	}
	return 0, nil, errors.New("lose wants machine=, or task= for the output of a task, and nothing else")
}

// names lists the kinds from the first given on.
func names(from Kind) string { return strings.Join(kindNames[from:], ", ") }

func (e *Event) parseFields(words []string) (err error) {
	switch e.Kind {
	case Phase:
		e.Phase, err = parseConfig(words)
		return err
	case Work, Slots:
		if len(words) != 1 {
			return fmt.Errorf("%s wants one word behind it, got %d", e.Kind, len(words))
		}
		if e.Kind == Work {
			e.Work, err = parseWorks(words[0])
			return err
		}
		return field{"slots", &e.Slots}.parse(words[0])
	}
	if e.Kind == Eligible {
		return e.parseEligible(words)
	}
	fields, required := e.fields()
	return parsePairs(e.Kind, fields, required, words)
}

// fields returns the fields of a line of e's kind; the first ones, as many as required, must be given.
func (e *Event) fields() (fields []field, required int) {
	task, attempt, machine := field{"task", &e.Task}, field{"attempt", &e.Attempt}, field{"machine", &e.Machine}
	switch e.Kind {
	case Start, Submit:
		return []field{task, machine}, 1
	case Begin:
		return []field{task, attempt, machine}, 1
	case Report:
		p := &e.Progress
		return []field{task, attempt, {"done", &p.Done}, {"score", &p.Score}, {"remaining", &p.Remaining}}, 1
	case Decide, LoseOutput, GiveUp:
		return []field{task}, 1
	case Next:
		return []field{machine}, 0
	case LoseMachine:
		return []field{machine}, 1
	case Finish, Fail, Kill, Restart:
		return []field{task, attempt}, 1
	}
	return nil, 0 // Sweep
}

func (e *Event) parseEligible(words []string) error {
	duplicate, restart := true, true
	err := parsePairs(e.Kind, []field{{"task", &e.Task}, {"duplicate", &duplicate}, {"restart", &restart}}, 1, words)
	e.NoDuplicate, e.NoRestart = !duplicate, !restart
	return err
}

// parsePairs reads key=value words in any order.
func parsePairs(kind Kind, fields []field, required int, words []string) error {
	var seen [8]bool
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		i := find(fields, key)
		switch {
		case (!ok || i < 0) && len(fields) == 0:
			return fmt.Errorf("%s has no fields, got %s", kind, quote(word))
		case !ok || i < 0:
			return fmt.Errorf("%s has no field %s, want one of %s, each with = and a value", kind, quote(word), keys(fields))
		case seen[i]:
			return fmt.Errorf("%s: %s is given twice", kind, key)
		}
		seen[i] = true
		if err := fields[i].parse(value); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	for i := range required {
		if !seen[i] {
			return fmt.Errorf("%s wants %s=", kind, fields[i].key)
		}
	}
	return nil
}
