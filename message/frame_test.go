package message

import "testing"

func TestFrameRoleKnowsOnlyExactFrames(t *testing.T) {
	for text, want := range map[string]Role{
		SummaryText(3, "Goals: a\n"):                           RoleAssistant,
		NoticeText(47):                                         RoleSystem,
		SummaryText(3, "a") + " and what do you say?":          RoleUser,
		"<COMPACT-SUMMARY v03>\na\n</COMPACT-SUMMARY>":         RoleUser,
		" " + NoticeText(47):                                   RoleUser,
		"[conversation truncated — +4 older messages omitted]": RoleUser,
		"hello": RoleUser,
	} {
		if got := FrameRole(text); got != want {
			t.Errorf("%q is the %s's, want %s", text, got, want)
		}
	}
	if v, body, ok := ParseSummaryText(SummaryText(12, " a\nb ")); !ok || v != 12 || body != "a\nb" {
		t.Errorf("version %d, body %q, %v", v, body, ok)
	}
}
