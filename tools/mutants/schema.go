package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A schema is the text of one file with all its faults built in.
type schema struct {
	fset   *token.FileSet
	info   *types.Info
	src    []byte
	file   string
	faults []fault
	edits  []edit
	forced map[ast.Expr]bool // conditions and operands that other faults don't change
}

// An edit inserts text at a place. At one place, edits that end something come first,
// from the inside out; then come edits that begin something, from the outside in.
type edit struct {
	at, size int // size of the syntax node that the edit belongs to
	opens    bool
	text     string
}

func (s *schema) read(f *ast.File) {
	s.forced = map[ast.Expr]bool{}
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok != token.VAR {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			s.visit(n)
			return true
		})
	}
}

func (s *schema) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		s.condition(n.Cond, true)
	case *ast.ForStmt:
		s.condition(n.Cond, false)
	case *ast.BinaryExpr:
		s.binary(n)
	case *ast.CompositeLit:
		s.fields(n)
	case *ast.ReturnStmt:
		s.failure(n)
	case *ast.BlockStmt:
		s.statements(n.List)
	case *ast.CaseClause:
		s.statements(n.Body)
	case *ast.CommClause:
		s.statements(n.Body)
	}
}

// condition makes a whole condition always true or always false.
func (s *schema) condition(e ast.Expr, always bool) {
	if e == nil || s.joined(e) || !s.truth(e) {
		return
	}
	s.forced[ast.Unparen(e)] = true
	if !always {
		s.wrap(e, fmt.Sprintf("(!mutant.At(%d) && (", s.fault(e, "`%s` never holds", s.brief(e))), "))")
		return
	}
	yes := s.fault(e, "`%s` always holds", s.brief(e))
	no := s.fault(e, "`%s` never holds", s.brief(e))
	s.wrap(e, fmt.Sprintf("(mutant.At(%d) || !mutant.At(%d) && (", yes, no), "))")
}

func (s *schema) binary(b *ast.BinaryExpr) {
	switch b.Op {
	case token.LAND, token.LOR:
		s.operand(b.X, b.Op)
		s.operand(b.Y, b.Op)
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		s.bound(b)
	case token.EQL, token.NEQ:
		if !s.forced[b] && s.truth(b) {
			s.wrap(b, "((", fmt.Sprintf(") != mutant.At(%d))", s.fault(b, "`%s` is turned around", s.brief(b))))
		}
	}
}

// operand removes one operand of && or ||.
func (s *schema) operand(e ast.Expr, op token.Token) {
	inner := ast.Unparen(e)
	if b, ok := inner.(*ast.BinaryExpr); ok && b.Op == op || !s.truth(e) {
		return
	}
	s.forced[inner] = true
	id := s.fault(e, "`%s` is left out of %s", s.brief(e), op)
	if op == token.LAND {
		s.wrap(e, fmt.Sprintf("(mutant.At(%d) || (", id), "))")
		return
	}
	s.wrap(e, fmt.Sprintf("(!mutant.At(%d) && (", id), "))")
}

// bound includes the equal case in a comparison, or excludes it.
func (s *schema) bound(b *ast.BinaryExpr) {
	x, y := s.raw(b.X), s.raw(b.Y)
	if !s.truth(b) || strings.ContainsAny(x+y, "\n{") || strings.Contains(x+y, "<-") {
		return
	}
	id := s.fault(b, "`%s` with its bound moved", s.brief(b))
	if b.Op == token.LSS || b.Op == token.GTR {
		s.wrap(b, "((", fmt.Sprintf(") || mutant.At(%d) && (%s) == (%s))", id, x, y))
		return
	}
	s.wrap(b, "((", fmt.Sprintf(") && !(mutant.At(%d) && (%s) == (%s)))", id, x, y))
}

func (s *schema) statements(list []ast.Stmt) {
	for _, st := range list {
		if removable(st) {
			s.wrap(st, fmt.Sprintf("if !mutant.At(%d) { ", s.fault(st, "`%s` is left out", s.brief(st))), " }")
		}
	}
}

func removable(st ast.Stmt) bool {
	switch st := st.(type) {
	case *ast.AssignStmt:
		return st.Tok != token.DEFINE
	case *ast.ExprStmt:
		call, ok := st.X.(*ast.CallExpr)
		if !ok {
			return true
		}
		id, ok := call.Fun.(*ast.Ident)
		return !ok || id.Name != "panic"
	case *ast.IncDecStmt, *ast.SendStmt:
		return true
	case *ast.BranchStmt:
		return st.Tok == token.CONTINUE || st.Tok == token.BREAK
	case *ast.ReturnStmt:
		return false
	}
	return false
}

func (s *schema) joined(e ast.Expr) bool {
	b, ok := ast.Unparen(e).(*ast.BinaryExpr)
	return ok && (b.Op == token.LAND || b.Op == token.LOR)
}

// truth reports whether e is a plain bool and no constant.
func (s *schema) truth(e ast.Expr) bool {
	t := s.info.Types[e]
	b, ok := t.Type.(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0 && t.Value == nil
}

func (s *schema) fault(n ast.Node, format string, args ...any) int {
	s.faults = append(s.faults, fault{s.file, s.fset.Position(n.Pos()).Line, fmt.Sprintf(format, args...)})
	return len(s.faults) - 1
}

func (s *schema) wrap(n ast.Node, open, end string) {
	from, to := s.fset.Position(n.Pos()).Offset, s.fset.Position(n.End()).Offset
	s.edits = append(s.edits, edit{from, to - from, true, open}, edit{to, to - from, false, end})
}

func (s *schema) raw(n ast.Node) string {
	return string(s.src[s.fset.Position(n.Pos()).Offset:s.fset.Position(n.End()).Offset])
}

func (s *schema) brief(n ast.Node) string {
	text := strings.Join(strings.Fields(s.raw(n)), " ")
	if len(text) > 100 {
		text = text[:100] + "…"
	}
	return text
}

// text returns the file with its edits; the lines keep their numbers.
func (s *schema) text(f *ast.File, module string) []byte {
	if len(s.edits) == 0 {
		return s.src
	}
	name := s.fset.Position(f.Name.End()).Offset
	s.edits = append(s.edits, edit{name, len(s.src), true, fmt.Sprintf("; import mutant %q", module+"/internal/mutant")})
	slices.SortStableFunc(s.edits, compareEdits)
	var b bytes.Buffer
	at := 0
	for _, e := range s.edits {
		b.Write(s.src[at:e.at])
		b.WriteString(e.text)
		at = e.at
	}
	b.Write(s.src[at:])
	return b.Bytes()
}

func compareEdits(a, b edit) int {
	switch {
	case a.at != b.at:
		return cmp.Compare(a.at, b.at)
	case a.opens != b.opens:
		if b.opens {
			return -1
		}
		return 1
	case a.opens:
		return cmp.Compare(b.size, a.size)
	}
	return cmp.Compare(a.size, b.size)
}
