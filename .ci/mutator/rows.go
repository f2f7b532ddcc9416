package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// row is a row of a table in docs/papers that names code and the tests that show it.
type row struct {
	place   string // file:line
	symbols []string
	tests   map[string][]string // the linked tests by directory
}

var (
	rowSymbol = regexp.MustCompile("`([^`]*)`")
	rowLink   = regexp.MustCompile(`\[(Test\w+|Fuzz\w+)\]\(([^)]*)\)`)
)

// rowsOf returns the rows of all tables that name code and tests.
func rowsOf(pages []string) (rows []row, err error) {
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(text), "\n") {
			cells := strings.Split(line, "|")
			if len(cells) != 8 {
				continue
			}
			r := row{place: fmt.Sprintf("%s:%d", filepath.Base(page), i+1), tests: map[string][]string{}}
			for _, m := range rowSymbol.FindAllStringSubmatch(cells[3], -1) {
				r.symbols = append(r.symbols, m[1])
			}
			for _, m := range rowLink.FindAllStringSubmatch(cells[5], -1) {
				dir := path.Dir(path.Join(filepath.ToSlash(filepath.Dir(page)), m[2]))
				r.tests[dir] = append(r.tests[dir], m[1])
			}
			if len(r.symbols) > 0 && len(r.tests) > 0 {
				rows = append(rows, r)
			}
		}
	}
	return rows, nil
}

// measureRows draws n rows of the papers' tables, and for each row a change in the code that the row names. It prints the
// changes which the linked tests notice, and returns their percentage. A change that only the tests of another row of
// the package notice belongs to the mechanism of that row: it is printed and drawn again. So is a row without a change.
func measureRows(n int, seed uint64) (float64, error) {
	pages, err := filepath.Glob("docs/papers/*.md")
	if err != nil {
		return 0, err
	}
	rows, err := rowsOf(pages)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "mutator")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	b := builds{dir: dir, changed: map[string]*changed{}}
	of, in := map[string][]row{}, map[string][]row{} // by symbol, and by directory
	for _, r := range rows {
		for _, s := range r.symbols {
			of[s] = append(of[s], r)
			p, _, err := b.of(s)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", r.place, err)
			}
			in[p.source.Dir] = append(in[p.source.Dir], r)
		}
	}
	fmt.Printf("%d rows name code and tests; seed %d\n", len(rows), seed)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	tried, noticed := 0, 0
	for _, r := range rows {
		if tried == n {
			break
		}
		all, err := b.changes(r, of)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", r.place, err)
		}
		// The draw of a row does not depend on the rows before it.
		h := fnv.New64a()
		h.Write([]byte(r.place))
		rand.New(rand.NewPCG(seed, h.Sum64())).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		verdict := ""
		for _, c := range all {
			if verdict, err = b.verdict(r, c, in[c.pkg.source.Dir]); err != nil {
				return 0, fmt.Errorf("%s: %w", r.place, err)
			}
			fmt.Printf("%s: %s in %s/%s: %s\n", r.place, c.what, c.pkg.source.Dir[len(b.root()):], c.where, verdict)
			if verdict == killed || verdict == survived {
				break
			}
		}
		switch verdict {
		case killed:
			noticed++
			fallthrough
		case survived:
			tried++
		default:
			fmt.Printf("%s: no change in the code that it names\n", r.place)
		}
	}
	share := 100 * float64(noticed) / float64(max(tried, 1))
	fmt.Printf("%d of %d changes of the papers' rows are noticed by the linked tests alone, %.1f %%\n", noticed, tried, share)
	return share, nil
}

const killed, survived = "noticed", "SURVIVES"

// change is a change in the code of a row's symbol.
type change struct {
	mutant
	symbol string
	pkg    *changed
}

// changed is a package with all its changes, and the test binaries that were built with it, by directory of the tests.
type changed struct {
	source   *source
	all      []mutant
	overlay  string
	binaries map[string]string
	seen     map[string]map[int]bool // the changes that a row's tests reach, by place of the row
}

type builds struct {
	dir     string
	changed map[string]*changed
}

func (b *builds) root() string {
	dir, _ := os.Getwd()
	return dir + "/"
}

// of returns the changed package of a symbol such as clone.Count or restart/tracker.Config.Lag, and the symbol's name in it.
func (b *builds) of(symbol string) (*changed, string, error) {
	slash := strings.LastIndexByte(symbol, '/') + 1
	name, rest, _ := strings.Cut(symbol[slash:], ".")
	dir := symbol[:slash] + name
	if slash == 0 {
		list, err := exec.Command("git", "ls-files", name+"/*.go", "*/"+name+"/*.go").Output()
		if err != nil {
			return nil, "", err
		}
		for _, file := range strings.Fields(string(list)) {
			if path.Base(path.Dir(file)) == name {
				dir = path.Dir(file)
			}
		}
	}
	if c := b.changed[dir]; c != nil {
		return c, rest, nil
	}
	s, err := load("./" + dir)
	if err != nil {
		return nil, "", err
	}
	c := &changed{source: s, binaries: map[string]string{}, seen: map[string]map[int]bool{}}
	out := filepath.Join(b.dir, strings.ReplaceAll(dir, "/", "-"))
	if err := os.Mkdir(out, 0o700); err != nil {
		return nil, "", err
	}
	if c.all, c.overlay, err = mutate(s, out); err != nil {
		return nil, "", err
	}
	b.changed[dir] = c
	return c, rest, nil
}

// changes returns the changes in the code of a row's symbols: in the body of a function; else in the statements that mention
// a field, a constant or a variable; else in the methods of a type and the functions that take or return it. Of the last two
// only changes count that the tests of some row of the symbol reach: the others are no mechanism of a paper.
func (b *builds) changes(r row, of map[string][]row) (all []change, err error) {
	seen := map[string]bool{}
	for _, symbol := range r.symbols {
		p, name, err := b.of(symbol)
		if err != nil {
			return nil, err
		}
		ranges, exact := p.source.code(name)
		reached := map[int]bool{}
		if !exact {
			for _, other := range of[symbol] {
				if err := b.reach(p, other, reached); err != nil {
					return nil, err
				}
			}
		}
		for _, m := range p.all {
			in := slices.ContainsFunc(ranges, func(n [2]token.Pos) bool { return n[0] <= m.at && m.at < n[1] })
			key := p.source.Dir + m.where + m.what
			if in && !seen[key] && (exact || reached[m.id]) {
				seen[key] = true
				all = append(all, change{m, symbol, p})
			}
		}
	}
	return all, nil
}

// noMechanism matches the functions that check, print, copy and keep what a type holds.
var noMechanism = regexp.MustCompile(`^([Vv]alidate|check\w*|String|Sentence|LogValue|(Marshal|Unmarshal|Append)\w*|` +
	`Snapshot|Restore|Merge|Clone|Equal|code|wire)$`)

// code returns the stretches of source of a symbol; exact if it is a function.
func (s *source) code(name string) (ranges [][2]token.Pos, exact bool) {
	typ, member, isMember := strings.Cut(name, ".")
	var functions []*ast.FuncDecl
	for _, f := range s.files {
		for _, d := range f.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				functions = append(functions, f)
				if of := receiverOf(f); of == typ && f.Name.Name == member || of == "" && f.Name.Name == name {
					return [][2]token.Pos{{f.Pos(), f.End()}}, true
				}
			}
		}
	}
	for _, f := range functions {
		if noMechanism.MatchString(f.Name.Name) {
			continue
		}
		if isMember || s.valueNamed(name) {
			ranges = append(ranges, s.mentions(f, name[strings.LastIndexByte(name, '.')+1:])...)
		} else if receiverOf(f) == typ || mentionsType(f.Type, typ) {
			ranges = append(ranges, [2]token.Pos{f.Pos(), f.End()})
		}
	}
	return ranges, false
}

func (s *source) valueNamed(name string) bool {
	for id, o := range s.info.Defs {
		if id.Name == name && o != nil && o.Parent() == o.Pkg().Scope() {
			_, is := o.(*types.TypeName)
			return !is
		}
	}
	return false
}

// mentions returns the innermost statements and conditions of a function that use a name.
func (s *source) mentions(f *ast.FuncDecl, name string) (ranges [][2]token.Pos) {
	var around []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return true
		}
		around = append(around, n)
		if id, ok := n.(*ast.Ident); ok && id.Name == name && s.info.Uses[id] != nil {
			for i := len(around) - 1; i >= 0; i-- {
				_, statement := around[i].(ast.Stmt)
				_, clause := around[i].(*ast.CaseClause)
				if statement || clause {
					from, to := around[i].Pos(), around[i].End()
					switch at := around[i].(type) {
					case *ast.IfStmt:
						to = at.Body.Pos()
					case *ast.ForStmt:
						to = at.Body.Pos()
					case *ast.RangeStmt:
						to = at.Body.Pos()
					case *ast.CaseClause:
						to = at.Colon
					}
					ranges = append(ranges, [2]token.Pos{from, to})
					break
				}
			}
		}
		return true
	})
	return ranges
}

// mentionsType reports whether a function takes or returns a type of its package.
func mentionsType(f *ast.FuncType, name string) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if _, ok := n.(*ast.SelectorExpr); ok {
			return false // a type of another package
		}
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return true
	})
	return found
}

func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	e := f.Recv.List[0].Type
	for {
		switch at := e.(type) {
		case *ast.StarExpr:
			e = at.X
		case *ast.IndexExpr:
			e = at.X
		case *ast.Ident:
			return at.Name
		default:
			return ""
		}
	}
}

// binary returns the tests of a directory, built with a changed package.
func (b *builds) binary(p *changed, dir string) (string, error) {
	if built := p.binaries[dir]; built != "" {
		return built, nil
	}
	name := filepath.Join(filepath.Dir(p.overlay), strings.ReplaceAll(dir, "/", "-")+".test")
	c := exec.Command("go", "test", "-c", "-vet=off", "-overlay", p.overlay, "-o", name, "./"+dir)
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s does not build: %w\n%s", dir, err, out)
	}
	p.binaries[dir] = name
	return name, nil
}

// passes reports whether the linked tests of a row pass with a change; 0 is none.
func (b *builds) passes(p *changed, r row, id int, limit time.Duration) (bool, error) {
	for dir, tests := range r.tests {
		binary, err := b.binary(p, dir)
		if err != nil {
			return false, err
		}
		if _, err := run(binary, dir, []string{"-test.short", "-test.failfast", "-test.run=" + anyOf(tests)}, id, limit); err != nil {
			return false, nil
		}
	}
	return true, nil
}

// reach adds the changes that the linked tests of a row reach. Their tests must pass with no change on.
func (b *builds) reach(p *changed, r row, reached map[int]bool) error {
	if p.seen[r.place] == nil {
		name := filepath.Join(b.dir, "seen")
		os.Remove(name)
		os.Setenv("MUTANT_SEEN", name)
		ok, err := b.passes(p, r, -1, 10*time.Minute)
		if err == nil && !ok {
			err = fmt.Errorf("the tests of %s fail with no change on", r.place)
		}
		if err != nil {
			return err
		}
		p.seen[r.place] = map[int]bool{}
		text, _ := os.ReadFile(name) // none is reached, if there is none
		for _, id := range strings.Fields(string(text)) {
			n, _ := strconv.Atoi(id)
			p.seen[r.place][n] = true
		}
	}
	for id := range p.seen[r.place] {
		reached[id] = true
	}
	return nil
}

// verdict runs the linked tests of a row on a change; if they notice nothing, those of the other rows of the package.
func (b *builds) verdict(r row, c change, others []row) (string, error) {
	if ok, err := b.passes(c.pkg, r, 0, 10*time.Minute); err != nil || !ok {
		return "", fmt.Errorf("its tests fail with no change on: %w", err)
	}
	ok, err := b.passes(c.pkg, r, c.id, 3*time.Minute)
	if err != nil || !ok {
		return killed, err
	}
	by, tests := map[string]string{}, map[string][]string{} // the rows of the tests, and the tests by directory
	for _, other := range others {
		for dir, list := range other.tests {
			for _, test := range list {
				if by[dir+test] == "" && other.place != r.place {
					by[dir+test], tests[dir] = other.place, append(tests[dir], test)
				}
			}
		}
	}
	for dir, list := range tests {
		binary, err := b.binary(c.pkg, dir)
		if err != nil {
			return "", err
		}
		out, err := run(binary, dir, []string{"-test.short", "-test.failfast", "-test.run=" + anyOf(list)}, c.id, 3*time.Minute)
		if err == nil {
			continue
		}
		if _, failed := results(out); len(failed) > 0 {
			return "belongs to " + by[dir+failed[0]] + ", drawn again", nil
		}
		return "ends the tests of other rows, drawn again", nil
	}
	return survived, nil
}
