package trace

import "io"

// document reads a format that is objects of JSON, as interfaces answer and tools print them: records alone, in an array,
// or as pages, which hold them in a member.
type document struct {
	*builder
	c      cursor
	record members // takes what is needed of a record
	take   func()  // takes in the record that was read, and forgets it
	begin  func()  // forgets what a page itself has under a record's names; nil: nothing
	end    func()  // when all are read; nil: nothing
	pages  []string
	paged  bool // the object held records in a member of it
}

// byObjects makes a reader of a document. Keys are those with which its objects begin, pages the members that hold
// records, in an array or by name, or other such members; make fills in the rest.
func byObjects(format Format, keys, pages []string, make func(d *document)) reader {
	return byStream(format, func(in io.Reader, limit int) *builder {
		d := &document{builder: newBuilder(format), pages: pages}
		make(d)
		object := members{}
		for key, take := range d.record {
			object[key] = take
		}
		for _, key := range pages {
			object[key] = d.page
		}
		newStream(in, limit, oneOf(append(keys, pages...)...)).each(d.log, func(record []byte) bool {
			d.c, d.paged = cursor{data: record}, false
			d.c.members(object)
			if d.c.done() && !d.paged {
				d.take()
			}
			return d.c.done()
		})
		if d.end != nil {
			d.end()
		}
		return d.builder
	})
}

// page takes the records in an array, or in an object: one that wraps the page once more, or that has them by name.
func (d *document) page() {
	d.paged = true
	if d.begin != nil {
		d.begin()
	}
	one := func() {
		d.c.members(d.record)
		d.take()
	}
	if d.c.space() != '{' {
		d.c.elements(one)
		return
	}
	d.c.fields(func(key []byte) {
		if oneOf(d.pages...)(key) {
			d.page()
		} else if d.c.space() == '{' {
			one()
		}
	})
}

// text, name, moment, index, bytes and inside make the taking of a value of their kind.
func (d *document) text(to *[]byte) func() { return func() { *to = d.c.name() } }

func (d *document) moment(to *Opt) func() { return func() { *to = d.c.moment(&d.log.Faults) } }

func (d *document) index(to *int32) func() { return func() { *to = d.c.index() } }

func (d *document) bytes(to *Opt) func() { return func() { *to = d.c.bytes() } }

func (d *document) add(to *Opt) func() { return func() { *to = to.plus(d.c.bytes()) } }

func (d *document) inside(m members) func() { return func() { d.c.members(m) } }
