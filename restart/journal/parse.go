package journal

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

// Phase is one phase of a journal: a configuration and its events.
type Phase struct {
	// Config is the configuration of the phase's tracker, with the work of all tasks. A custom value, which has no
	// text, is replaced by a placeholder. Options.Configure must supply the real value.
	Config tracker.Config
	// Events are the events of the phase in their order. If the journal has no line that begins with "since", its
	// times count from the Unix epoch.
	Events []tracker.Event
}

// Parse returns the phases of a journal in their order, without the answers. A journal may have lost its beginning.
// Then the events before the first phase are returned as a phase without a configuration. Event.Machine is -1 if the
// line has no machine. An error states the line and the expected form. O(len(data)).
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

// ParseEvent reads one event from a line. The line may have a line end and a comment. An error states the expected
// form.
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

// class is the sort of a line of a journal.
type class uint8

const (
	eventLine class = iota
	phaseLine
	workLine
	sinceLine
	answerLine
	// otherLine is an empty line or a comment.
	otherLine
)

// line is one line of a journal.
type line struct {
	number int
	// The text of the line without its end.
	text string
	// The line end: "\n" or "\r\n".
	end   string
	class class
	// The event, if class is eventLine.
	event tracker.Event
	// The configuration, if class is phaseLine.
	config tracker.Config
	// The work of tasks, if class is workLine.
	work []float64
	// The start of the journal, if class is sinceLine.
	since time.Time
}

// lines iterates over the lines of a journal. It stops at the first error.
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

// read sets the class and the content of a line from the text of the line.
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

// checkAnswer returns an error if an indented line cannot be an answer. Replay drops the answers. So without this
// check, Replay would drop an event that was indented by mistake.
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

// parse reads a line that is not an answer.
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
