package strategy_test

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/summarize"
)

// refusals are answers of models that refuse to write a summary.
var refusals = []string{
	"ok", "OK.", "Sure!", "Done ✅", "{}", "null", "...", "```\n```",
	"I apologize, but I can't do that.",
	"I'm sorry, but I can't assist with that request.\n\nYou could try:\n- asking somebody else\n- a shorter conversation",
	"Sorry, I can't help. Here is why:\n1. The content is private.\n2. It may be harmful.\nPlease consult a professional.\nThank you.",
	"## Goals and success criteria\nI cannot summarize this conversation.",
	"## Goals and success criteria\n- I'm sorry, but I can’t help with that.\n## Decisions\n- N/A\n## What is next\n- None",
	"**Summary:**\n- As an AI language model, I cannot process this conversation.",
	"# What happened\n- Unfortunately, I am unable to continue.",
	"- I must decline to write this summary.\n- This request is against the content policy.",
	"Lo siento, no puedo ayudar con eso.", "- Lo siento, no puedo ayudar con eso.",
	"Je suis désolé, mais je ne peux pas vous aider.\n\n- Essayez plus tard\n- Contactez le support\nMerci de votre compréhension.",
	"## Decisions\n- Es tut mir leid, dabei kann ich nicht helfen.",
	"申し訳ありませんが、お手伝いできません。", "## What happened\n- 申し訳ありませんが、その要約は作成できません。",
	"抱歉，我无法完成这个请求。", "- 抱歉，我无法完成这个请求。",
	"죄송합니다. 도와드릴 수 없습니다.", "## What is next\n- 죄송하지만 도와드릴 수 없습니다.",
	"Извините, я не могу помочь с этим.", "## Notes\n- К сожалению, я не могу это сделать.",
	"عذرًا، لا أستطيع المساعدة في ذلك.", "## What happened\n- عذرًا، لا أستطيع المساعدة في ذلك.",
	"- Mwen regrèt sa, mwen pa kapab ede w ak demann sila a jodi a.", "## What happened\n- Ngiyaxolisa, angikwazi ukukusiza ngalesi sicelo namuhla.",
	"## Goals and success criteria\n## Decisions\n## What is next\n", "## What happened\n- ...\n- ok\n",
	"The conversation is about a table. It was moved, and tests were run.",
	"I'd be happy to help you with that! What would you like me to summarize?",
}

func TestWriterRecognizesRefusalsInManyForms(t *testing.T) {
	for _, answer := range refusals {
		sum, err := summarize.Writer{Summarizer: scribe{answer}, Fallback: summarize.FallbackExtractive}.Write(t.Context(), summarize.Input{Messages: shop(), Count: count4})
		if err != nil || sum.Fallback != summarize.FallbackExtractive {
			t.Errorf("%q: fallback %q, error %v:\n%s\nwant %q and no error", answer, sum.Fallback, err, sum.Text, summarize.FallbackExtractive)
		}
	}
}

// Only a refusal gives ErrRefused. For any other unusable answer, the error states the
// reason.
func TestUnusableAnswerIsNotARefusal(t *testing.T) {
	for answer, want := range map[string]string{
		"I'm sorry, but I can't assist with that request.":                                      "the model refused: I'm sorry",
		"Hello there. I can't do that.":                                                         "the model refused: Hello there",
		"## Goals and success criteria\n- I'm sorry, but I can’t help with that.":               "the model refused: ## Goals",
		"- Lo siento, no puedo ayudar con eso.":                                                 "the model refused: - Lo siento",
		"Sure!":                                                                                 "the answer is not a usable summary: it has none of the sections that were requested, and no list: Sure!",
		"The conversation is about a table. It was moved.":                                      "the answer is not a usable summary: it has none of the sections that were requested, and no list: The conv",
		"## What happened\n- ...\n- ok\n":                                                       "the answer is not a usable summary: it says nothing about the conversation: ## What",
		"## Goals and success criteria\n- None\n## Decisions\n- N/A":                            "the answer is not a usable summary: it says nothing about the conversation: ## Goals",
		"- Mwen regrèt sa, mwen pa kapab ede w ak demann sila a jodi a.":                        "the answer is not a usable summary: it says nothing about the conversation: - Mwen",
		"## Key entities\n- " + "`vendor/xerces/parser.go`" + ": the parser that was rewritten": "the answer is not a usable summary: verification removed all of its lines",
	} {
		_, err := summarize.Writer{Summarizer: scribe{answer}}.Write(t.Context(), summarize.Input{Messages: shop(), Count: count4})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", answer, err, want)
		}
	}
}

// honest maps answers that are summaries in unusual forms to the text that must remain of
// each.
var honest = map[string]string{
	"Goals and success criteria:\n- move the orders table to the new schema [s1]":                                                                      "- move the orders table",
	"```markdown\n## Goals and success criteria\n- move the orders table to the new schema [s1]\n```\nLet me know if you need more.":                   "- move the orders table",
	"Here is the summary you asked for.\n\n## GOALS AND SUCCESS CRITERIA\n- move the orders table [s1]\n\nI hope this helps!":                          "- move the orders table",
	"### **1. Goals & success criteria**\n1. move the orders table to the new schema":                                                                  "move the orders table",
	"**Goals and success criteria**\n* move the orders table to the new schema":                                                                        "move the orders table",
	"- move the orders table to orders_v2 [s10]\n- make lint passed":                                                                                   "orders_v2",
	"1. move the orders table to orders_v2\n2. never drop legacy_id":                                                                                   "legacy_id",
	"## Decisions\n- I cannot drop the column legacy_id: the user said never [s1]":                                                                     "legacy_id",
	"## Outstanding actions and blockers\n- [open] Umbenennen der Tabelle in orders/schema.go steht noch aus [s11]":                                    "Umbenennen der Tabelle",
	"## Outstanding actions and blockers\n- [open] 在 orders/schema.go 中重命名表":                                                                           "orders/schema.go",
	"## Key entities\n- orders: the table that moves\n## Decisions\n- Sorry for the confusion about orders: orders_v2 is what the user wants [s10]":    "orders_v2",
	"## Goals and success criteria\n- move the orders table [s1]\n```\nmake lint\n```\n## Decisions\n- never drop the column legacy_id of orders [s1]": "legacy_id",
	"Summary:\n\n• the orders table moves to orders_v2\n• make lint has 0 issues":                                                                      "orders_v2",
	"<summary>\n## Goals and success criteria\n- move the orders table to the new schema [s1]\n</summary>":                                             "- move the orders table",
	"## Goals and success criteria ##\n- move the orders table to the new schema [s1]":                                                                 "- move the orders table",
	"__Goals and success criteria__\n- move the orders table to the new schema [s1]":                                                                   "- move the orders table",
	"Goals and success criteria\n==========================\n- move the orders table to the new schema [s1]":                                           "- move the orders table",
	"Goals and success criteria\n- move the orders table to the new schema [s1]\n\nDecisions\n- write to orders_v2 instead [s10]":                      "- move the orders table",
	"<h2>Goals and success criteria</h2>\n- move the orders table to the new schema [s1]":                                                              "- move the orders table",
	"## 🎯 Goals and success criteria\n- move the orders table to the new schema [s1]":                                                                  "- move the orders table",
}

func TestWriterAcceptsSummariesInUnusualForms(t *testing.T) {
	for answer, want := range honest {
		sum, err := summarize.Writer{Summarizer: scribe{answer}}.Write(t.Context(), summarize.Input{Messages: shop(), Count: count4})
		if err != nil || sum.Fallback != "" || !strings.Contains(sum.Text, want) {
			t.Errorf("%q: fallback %q, error %v, want %q in:\n%s", answer, sum.Fallback, err, want, sum.Text)
			continue
		}
		if strings.Contains(answer, "Goals") && !strings.HasPrefix(answer, "###") && !strings.Contains(sum.Text, "## Goals and success criteria\n- move") {
			t.Errorf("%q: the text is not under its heading:\n%s", answer, sum.Text)
		}
		for _, around := range []string{"Here is", "Let me know", "hope this", "```", "summary>", "====", "h2>"} {
			if strings.Contains(sum.Text, around) {
				t.Errorf("%q: %q is in:\n%s", answer, around, sum.Text)
			}
		}
	}
}
