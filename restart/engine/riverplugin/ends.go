package riverplugin

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// endOthers lists the attempts that run and can end nothing any more.
func (c *coordinator) endOthers(v *view, todo *orders) {
	todo.ends = map[string][]string{}
	for name, cl := range v.clients {
		for attempt := range cl.running {
			if strings.HasPrefix(attempt, watchedPrefix) {
				continue
			}
			mine := parseName(attempt)
			id, r := mine.id, v.rows[mine.id]
			// Of a row that the look has not read nothing is known: its kind may be one that this client does not name.
			over := r != nil && (c.unwanted(r) || !r.runs() || r.run() != mine)
			if r != nil && r.copied.Job != 0 {
				mine = r.copied.of()
				original := v.rows[mine.id]
				over = over || original != nil && (!original.runs() || original.run() != mine)
			}
			if e, ended := v.ends[mine]; ended && e.by != id {
				over = true
			}
			if over && !c.lost[name] {
				todo.ends[name] = append(todo.ends[name], attempt)
			}
		}
		slices.Sort(todo.ends[name])
		if slices.Equal(todo.ends[name], cl.ends) {
			delete(todo.ends, name)
		} else if todo.ends[name] == nil {
			todo.ends[name] = []string{}
		}
	}
	for of, copies := range v.copies {
		original := v.rows[of.id]
		_, ended := v.ends[of]
		for _, r := range copies {
			over := ended || c.unwanted(r) || original == nil || !original.runs() || original.run() != of
			if over && (!r.runs() || r.isLost || r.hasReturned) || r.final() {
				todo.drops = append(todo.drops, r.id)
			}
		}
	}
}

// unwanted reports whether the phase of a copy has cancelled the copy.
func (c *coordinator) unwanted(r *row) bool {
	return r != nil && c.kinds[r.kind] != nil && c.kinds[r.kind].unwant[r.id]
}

func parseName(attempt string) (j run) {
	fmt.Sscanf(attempt, "%d.%d.%d", &j.id, &j.attempt, &j.begun)
	return j
}

// flushed is the time in which River, at a client that lives, has written the end of an attempt, as a rule.
const flushed = 2 * time.Minute

// orphans rescues the jobs whose end was claimed by an attempt that died before River wrote it.
func (c *coordinator) orphans(v *view, todo *orders) {
	where := map[int64]string{} // by the row of an attempt, the client that runs it
	for name, cl := range v.clients {
		for attempt := range cl.running {
			where[parseName(strings.TrimPrefix(attempt, watchedPrefix)).id] = name
		}
	}
	for j, e := range v.ends {
		r := v.rows[j.id]
		if r == nil || !r.runs() || !r.known || r.isWatched || r.run() != j {
			continue
		}
		client, listed := where[e.by]
		if !listed && e.by == j.id {
			client = r.client
		}
		since, by := v.now.Sub(e.ended), v.rows[e.by]
		isLost := c.lost[client] || by != nil && by.isLost
		if !listed && since > flushed || since > 2*silence && isLost {
			todo.rescues = append(todo.rescues, order{r: r, why: "the attempt that ended the job has died", override: true})
		}
	}
	for _, r := range v.rows {
		_, named := c.p.options.of(r.kind)
		_, ended := v.ends[r.run()]
		switch neverBegan := r.runs() && r.hasReturned && !r.isWatched && !ended && !c.lost[r.client] &&
			v.now.Sub(r.begun) > flushed && v.now.Sub(v.started) > flushed; {
		case neverBegan && r.copied.Job != 0:
			todo.drops = append(todo.drops, r.id)
		case neverBegan && named: // the answer to the fetch of the job was lost with a connection
			todo.rescues = append(todo.rescues, order{r: r, why: "the client " + r.client + " lives and does not run it"})
		}
	}
}
