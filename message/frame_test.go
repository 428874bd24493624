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
		NoticeText(0):                                          RoleSystem,
		noticeOpen + "-4" + noticeClose:                        RoleUser,
		noticeOpen + "" + noticeClose:                          RoleUser,
		noticeOpen + "47":                                      RoleUser,
		"47" + noticeClose:                                     RoleUser,
		SummaryText(1, "a"):                                    RoleAssistant,
		SummaryText(0, "a"):                                    RoleUser,
		SummaryText(-1, "a"):                                   RoleUser,
		SummaryText(MaxSummaryVersion, "a"):                    RoleAssistant,
		SummaryText(MaxSummaryVersion+1, "a"):                  RoleUser,
		"<COMPACT-SUMMARY v>\na\n</COMPACT-SUMMARY>":           RoleUser,
		"hello": RoleUser,
	} {
		if got := FrameRole(text); got != want {
			t.Errorf("%q is the %s's, want %s", text, got, want)
		}
	}
	if v, body, ok := ParseSummaryText(SummaryText(12, " a\nb ")); !ok || v != 12 || body != "a\nb" {
		t.Errorf("version %d, body %q, %v, want version 12 and the body without spaces around it", v, body, ok)
	}
}

// Only a text that MediaText made stands for a picture, a sound or a file.
func TestParseMediaTextKnowsOnlyItsOwnTexts(t *testing.T) {
	for _, k := range []Kind{KindImage, KindAudio, KindFile} {
		if got, tokens, size, ref, ok := ParseMediaText(MediaText(k, 1568, 412345, "3f9a2c1b70de")); !ok || got != k || tokens != 1568 || size != 412345 || ref != "3f9a2c1b70de" {
			t.Errorf("%s: read back as %s, %d tokens, %d bytes, %q, %v", k, got, tokens, size, ref, ok)
		}
	}
	for _, text := range []string{"", "[image]", MediaText(KindOther, 5, 3, "3f9a2c1b70de"), MediaText(KindText, 5, 3, "3f9a2c1b70de"), MediaText(KindImage, 5, 3, "3f9a2c"),
		MediaText(KindImage, 5, 3, "3f9a2c1b70de") + " and more", MediaText(KindImage, 5, 3, "3f9a2c1b70dexx"),
		"[image masked — ~ tokens, 3 bytes · ref 3f9a2c1b70de]", "[image masked — ~5 tokens,  bytes · ref 3f9a2c1b70de]", "[image masked — ~05 tokens, 3 bytes · ref 3f9a2c1b70de]"} {
		if _, _, _, _, ok := ParseMediaText(text); ok {
			t.Errorf("%q is read as the text of a medium", text)
		}
	}
}
