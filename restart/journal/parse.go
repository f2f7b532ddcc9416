package journal

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

// Phase is one phase of a journal.
type Phase struct {
	// Config is the configuration of the phase's tracker, with all works. A custom value, which has no text, is
	// a placeholder that journal.Options must replace.
	Config tracker.Config
	// Events are the events in their order. If the journal has no since line, its start is the Unix epoch.
	Events []tracker.Event
}

// Parse returns the phases of a journal in their order, without the answers. Events before the first phase make
// a phase without a configuration; such a journal has lost its beginning. Event.Machine is -1 if the line gives
// no machine or its kind has none. An error names the line and the expected form. O(len(data)).
func Parse(data []byte) ([]Phase, error) {
	var phases []Phase
	for l, err := range lines(data) {
		if err != nil {
			return nil, err
		}
		last := len(phases) - 1
		switch l.class {
		case phaseLine:
			phases = append(phases, Phase{Config: l.config})
		case workLine:
			if last < 0 || len(phases[last].Events) > 0 {
				return nil, fmt.Errorf("journal: line %d: got work, want the work line directly below the line of its phase", l.number)
			}
			phases[last].Config.Work = append(phases[last].Config.Work, l.work...)
		case eventLine:
			if last < 0 {
				phases, last = append(phases, Phase{}), 0
			}
			phases[last].Events = append(phases[last].Events, l.event)
		}
	}
	return phases, nil
}

// ParseEvent reads one event, with or without a line end and a comment. The error names the expected form.
func ParseEvent(text []byte) (tracker.Event, error) {
	var l line
	if err := l.parse(string(text)); err != nil {
		return tracker.Event{}, fmt.Errorf("journal: %w", err)
	}
	if l.class != eventLine {
		return tracker.Event{}, errors.New("journal: got a line of the phase, want an event")
	}
	return l.event, nil
}

// class is the purpose of a line of a journal.
type class uint8

const (
	eventLine class = iota
	phaseLine
	workLine
	sinceLine
	answerLine
	otherLine // empty, or a comment
)

// line is one line of a journal.
type line struct {
	number int
	text   string // the line without its end
	end    string // "\n" or "\r\n"
	class  class
	event  tracker.Event  // of an eventLine
	config tracker.Config // of a phaseLine
	work   []float64      // of a workLine
	since  time.Time      // of a sinceLine
}

// lines reads a journal line by line. lines stops at the first error.
func lines(data []byte) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		number, answerable, since := 0, false, start()
		for text := range strings.Lines(string(data)) {
			number++
			l := line{number: number, end: "\n", text: strings.TrimSuffix(text, "\n")}
			if cut, ok := strings.CutSuffix(l.text, "\r"); ok {
				l.text, l.end = cut, "\r\n"
			}
			err := l.read()
			switch {
			case err != nil:
			case l.class == sinceLine:
				since = l.since
			case l.class <= workLine:
				answerable = true
				if l.event.Kind.Timed() {
					l.event.Time = since.Add(l.event.Time.Sub(start()))
				}
				if !l.event.Leaves.IsZero() {
					l.event.Leaves = since.Add(l.event.Leaves.Sub(start()))
				}
			case l.class == answerLine && !answerable:
				err = errors.New("an indented line is an answer, want an event before it")
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

// read sets the class and the content of a line from its text.
func (l *line) read() (err error) {
	trimmed := strings.TrimSpace(l.text)
	switch {
	case trimmed == "" || trimmed[0] == '#':
		l.class = otherLine
	case l.text[0] == ' ' || l.text[0] == '\t':
		l.class = answerLine
		err = checkAnswer(trimmed)
	default:
		err = l.parse(l.text)
	}
	return err
}

// checkAnswer accepts a line that could be an answer. Replay drops the answers, so an event that was indented
// by mistake must be an error.
func checkAnswer(text string) error {
	first, _, _ := strings.Cut(text, " ")
	first, _, _ = strings.Cut(first, "=")
	for _, known := range answerWords {
		if first == known {
			return nil
		}
	}
	return fmt.Errorf("an indented line is an answer, want it to begin with one of %s, got %.40q",
		strings.Join(answerWords[:], ", "), text)
}

// parse reads a line that is no answer.
func (l *line) parse(text string) error {
	words := strings.Fields(text)
	for i, word := range words {
		if word[0] == '#' {
			words = words[:i]
			break
		}
	}
	if len(words) == 0 {
		return errors.New("got an empty line, want an event")
	}
	at, err := time.ParseDuration(words[0])
	timed := err == nil
	if timed {
		words = words[1:]
	}
	if len(words) > 0 {
		switch first := words[0]; {
		case timed && (first == wordPhase || first == wordWork || first == wordSince):
			return fmt.Errorf("%s has a time, want no time before it", first)
		case first == wordSince:
			l.class = sinceLine
			l.since, err = parseSince(words[1:])
			return err
		case first == wordPhase:
			l.class = phaseLine
			l.config, err = parseConfig(words[1:])
			return err
		case first == wordWork:
			l.class = workLine
			if len(words) != 2 {
				return fmt.Errorf("work wants one word after it, got %d", len(words)-1)
			}
			l.work, err = parseWorks(words[1])
			return err
		}
	}
	l.event, err = parseEvent(words, at, timed)
	return err
}
