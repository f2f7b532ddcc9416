package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
)

// switches are the functions by which a change is on or off. They evaluate each operand once, whatever is on.
const switches = `

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"sync"
)

var (
	mutantOn, _ = strconv.Atoi(os.Getenv("MUTANT"))
	mutantSeen  sync.Map
)

// With MUTANT=-1 no change is on, and the number of each change that the tests reach is appended to the file MUTANT_SEEN.
func mutantIs(id int) bool {
	if mutantOn < 0 {
		if _, seen := mutantSeen.LoadOrStore(id, true); !seen {
			f, err := os.OpenFile(os.Getenv("MUTANT_SEEN"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				panic(err)
			}
			fmt.Fprintln(f, id)
			f.Close()
		}
	}
	return mutantOn == id
}

func mutantLess[T cmp.Ordered](id int, a, b T) bool {
	if mutantIs(id) {
		return a <= b
	}
	return a < b
}

func mutantMost[T cmp.Ordered](id int, a, b T) bool {
	if mutantIs(id) {
		return a < b
	}
	return a <= b
}

func mutantMore[T cmp.Ordered](id int, a, b T) bool {
	if mutantIs(id) {
		return a >= b
	}
	return a > b
}

func mutantLeast[T cmp.Ordered](id int, a, b T) bool {
	if mutantIs(id) {
		return a > b
	}
	return a >= b
}

func mutantAdd[T mutantNumber](id int, a, b T) T {
	if mutantIs(id) {
		return a - b
	}
	return a + b
}

func mutantSub[T mutantNumber](id int, a, b T) T {
	if mutantIs(id) {
		return a + b
	}
	return a - b
}

func mutantMul[T mutantNumber](id int, a, b T) T {
	if mutantIs(id) {
		return a / b
	}
	return a * b
}

func mutantDiv[T mutantNumber](id int, a, b T) T {
	if mutantIs(id) {
		return a * b
	}
	return a / b
}

func mutantMin[T cmp.Ordered](id int, a, b T) T {
	if mutantIs(id) {
		return max(a, b)
	}
	return min(a, b)
}

func mutantMax[T cmp.Ordered](id int, a, b T) T {
	if mutantIs(id) {
		return min(a, b)
	}
	return max(a, b)
}

type mutantNumber interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}
`

// walker makes the changes of one file.
type walker struct {
	*source
	file             *token.File
	text             []byte
	opening, closing []edit
	all              []mutant
}

func (w *walker) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok != token.CONST
	case *ast.BinaryExpr:
		if w.info.Types[n].Value != nil {
			return false // a constant
		}
		w.binary(n)
	case *ast.IfStmt:
		if _, is := n.Cond.(*ast.BinaryExpr); !is && w.truth(n.Cond) { // a comparison has changes of its own
			id := w.add(n.Cond.Pos(), "if -> if not")
			w.open(n.Cond.Pos(), "((")
			w.close(n.Cond.End(), fmt.Sprintf(") != mutantIs(%d))", id))
		}
	case *ast.CallExpr:
		w.extreme(n)
	case *ast.AssignStmt:
		w.assign(n)
	case *ast.IncDecStmt:
		op, other := "Add", "--"
		if n.Tok == token.DEC {
			op, other = "Sub", "++"
		}
		if w.number(n.X) && plain(n.X) {
			id := w.add(n.TokPos, n.Tok.String()+" -> "+other)
			w.replace(n.TokPos, 2, fmt.Sprintf(" = mutant%s(%d, %s, 1)", op, id, w.of(n.X)))
		}
	}
	return true
}

var sums = map[token.Token][2]string{
	token.ADD: {"Add", "-"}, token.SUB: {"Sub", "+"}, token.MUL: {"Mul", "/"}, token.QUO: {"Div", "*"},
	token.ADD_ASSIGN: {"Add", "-="}, token.SUB_ASSIGN: {"Sub", "+="},
	token.MUL_ASSIGN: {"Mul", "/="}, token.QUO_ASSIGN: {"Div", "*="},
}

// bounds are the comparisons, the function and the bound that each changes to, and its negation.
var bounds = map[token.Token][3]string{
	token.LSS: {"Less", "<=", ">="}, token.LEQ: {"Most", "<", ">"},
	token.GTR: {"More", ">=", "<="}, token.GEQ: {"Least", ">", "<"},
}

func (w *walker) binary(n *ast.BinaryExpr) {
	x, end, op := n.X.Pos(), n.Y.End(), n.OpPos
	switch n.Op {
	case token.ADD, token.SUB, token.MUL, token.QUO:
		if !w.number(n) || shifted(n.X) || shifted(n.Y) {
			return
		}
		id := w.add(op, n.Op.String()+" -> "+sums[n.Op][1])
		w.open(x, fmt.Sprintf("mutant%s(%d, ", sums[n.Op][0], id))
		w.replace(op, 1, ",")
		w.close(end, ")")
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		w.compare(n)
	case token.EQL, token.NEQ:
		id := w.add(op, n.Op.String()+" -> its negation")
		w.open(x, "((")
		w.close(end, fmt.Sprintf(") != mutantIs(%d))", id))
	case token.LAND, token.LOR:
		if !w.truth(n.X) || !w.truth(n.Y) {
			return
		}
		other := map[token.Token]string{token.LAND: "||", token.LOR: "&&"}[n.Op]
		on := fmt.Sprintf("mutantIs(%d)", w.add(op, n.Op.String()+" -> "+other))
		// With every operand and the result negated, "and" is "or".
		w.open(x, "((((")
		w.close(n.X.End(), ") != "+on+")")
		w.open(n.Y.Pos(), "((")
		w.close(end, ") != "+on+")) != "+on+")")
	}
}

// compare changes the bound of a comparison, and negates it.
func (w *walker) compare(n *ast.BinaryExpr) {
	b := bounds[n.Op]
	bound, id := w.add(n.OpPos, n.Op.String()+" -> "+b[1]), w.add(n.OpPos, n.Op.String()+" -> "+b[2])
	w.open(n.X.Pos(), fmt.Sprintf("(mutant%s(%d, ", b[0], bound))
	w.replace(n.OpPos, len(n.Op.String()), ",")
	w.close(n.Y.End(), fmt.Sprintf(") != mutantIs(%d))", id))
}

func (w *walker) assign(n *ast.AssignStmt) {
	op, ok := sums[n.Tok]
	if !ok || !w.number(n.Lhs[0]) || !plain(n.Lhs[0]) {
		return
	}
	id := w.add(n.TokPos, n.Tok.String()+" -> "+op[1])
	w.replace(n.TokPos, 2, fmt.Sprintf("= mutant%s(%d, %s,", op[0], id, w.of(n.Lhs[0])))
	w.close(n.Rhs[0].End(), ")")
}

// extreme changes the smaller of two numbers to the larger one.
func (w *walker) extreme(n *ast.CallExpr) {
	f, ok := n.Fun.(*ast.Ident)
	if !ok || len(n.Args) != 2 || !w.number(n) || w.info.Types[n].Value != nil {
		return
	}
	if _, ok := w.info.Uses[f].(*types.Builtin); !ok {
		return
	}
	of := map[string][2]string{"min": {"Min", "max"}, "max": {"Max", "min"}}[f.Name]
	if of[0] == "" || w.info.Types[n.Args[0]].Value != nil && w.info.Types[n.Args[1]].Value != nil {
		return
	}
	id := w.add(n.Pos(), f.Name+" -> "+of[1])
	w.replace(n.Pos(), len(f.Name), "mutant"+of[0])
	w.open(n.Lparen+1, fmt.Sprintf("%d, ", id))
}

func (w *walker) add(at token.Pos, what string) int {
	p := w.file.Position(at)
	m := mutant{len(w.all) + 1, at, fmt.Sprintf("%s:%d:%d", filepath.Base(p.Filename), p.Line, p.Column), what}
	w.all = append(w.all, m)
	return m.id
}

func (w *walker) open(at token.Pos, text string) {
	w.opening = append(w.opening, edit{w.file.Offset(at), 0, text})
}

func (w *walker) replace(at token.Pos, cut int, text string) {
	w.opening = append(w.opening, edit{w.file.Offset(at), cut, text})
}

func (w *walker) close(at token.Pos, text string) {
	w.closing = append(w.closing, edit{w.file.Offset(at), 0, text})
}

func (w *walker) of(x ast.Expr) string {
	return string(w.text[w.file.Offset(x.Pos()):w.file.Offset(x.End())])
}

// number reports whether an expression is a number of a type that is no parameter.
func (w *walker) number(x ast.Expr) bool {
	t := w.info.Types[x].Type
	if _, is := types.Unalias(t).(*types.TypeParam); is || t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsFloat) != 0 && b.Info()&types.IsUntyped == 0
}

func (w *walker) truth(x ast.Expr) bool {
	b, ok := types.Unalias(w.info.Types[x].Type).(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// shifted reports whether an expression is a shift; the type of 1<<n is that of the expression around it.
func shifted(x ast.Expr) bool {
	b, ok := ast.Unparen(x).(*ast.BinaryExpr)
	return ok && b.Op == token.SHL
}

// plain reports whether an expression can be written twice: it calls nothing.
func plain(x ast.Expr) bool {
	calls := false
	ast.Inspect(x, func(n ast.Node) bool {
		_, is := n.(*ast.CallExpr)
		calls = calls || is
		return true
	})
	return !calls
}
