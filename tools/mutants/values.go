package main

import (
	"fmt"
	"go/ast"
	"go/types"
)

// fields leaves out fields of a struct.
func (s *schema) fields(lit *ast.CompositeLit) {
	if t := s.info.Types[lit].Type; t == nil || !isStruct(t) {
		return
	}
	for _, e := range lit.Elts {
		if f, ok := e.(*ast.KeyValueExpr); ok && s.copied(f.Value) {
			s.zero(f.Value, s.fault(f, "`%s` is left out", s.brief(f)))
		}
	}
}

func isStruct(t types.Type) bool {
	if p, ok := t.Underlying().(*types.Pointer); ok { // an element of a list of pointers
		t = p.Elem()
	}
	_, ok := t.Underlying().(*types.Struct)
	return ok
}

// copied reports whether e is the value of a variable, of a field or of a call.
func (s *schema) copied(e ast.Expr) bool {
	switch e.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.CallExpr:
		t := s.info.Types[e]
		return t.IsValue() && t.Value == nil && !t.IsNil()
	}
	return false
}

// failure returns nil in place of an error.
func (s *schema) failure(r *ast.ReturnStmt) {
	if len(r.Results) == 0 {
		return
	}
	last, ok := r.Results[len(r.Results)-1].(*ast.Ident)
	if ok && s.copied(last) && types.Identical(s.info.Types[last].Type, types.Universe.Lookup("error").Type()) {
		s.zero(last, s.fault(r, "`%s` without its error", s.brief(r)))
	}
}

// zero replaces the value of e by the zero value.
func (s *schema) zero(e ast.Expr, id int) { s.wrap(e, fmt.Sprintf("mutant.Zero(%d, ", id), ")") }
