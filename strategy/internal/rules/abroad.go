package rules

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Patterns of clauses in lower case that set a rule in German, French, Spanish or Portuguese.
var (
	// German: an imperative or an infinitive with a negation, "nur", "ohne" or "erst".
	deOrder  = lazy.Compile(`^(?:ändere|änder|rühr|rühre|lösch|lösche|fass|fasse|schreib|schreibe|mach|mache|push|pushe|veröffentliche|verwende|verwend|nutze|nutz|benutze|benutz|ersetze|entferne|verschiebe|starte|installiere|committe|commite|leg|lege|erstelle|füge|nimm|schick|schicke|sende|gib|führ|führe|merge|deploye|bestelle|bestell|buche|buch|kaufe|kauf|antworte|teile|teil|lies|lade|lad|speichere|übersetze|korrigiere|kürze|verändere|bearbeite|geh|gehe|komm|zeig|zeige|verschick|verschicke|ergänze|logge|log|baue|bau|setze|setz|ändert|löscht|schreibt|macht|nehmt|nutzt|verwendet|fasst) (?:\S+ )*?(?:nicht|nichts|kein|keine|keinen|keiner|keinem|keins|niemals|nie|nur|ausschließlich|immer|erst|ohne)\b`)
	deInfin  = lazy.Compile(`(?:^|^[^,]* )(?:nicht|nichts|kein|keine|keinen|keinem|keiner|niemals|nie|nur|ausschließlich|immer|stets) (?:\S+ ){0,5}[a-zäöüß]{3,}(?:en|ern|eln)$`)
	deFinite = lazy.Compile(`^(?:der|die|das|ein|eine|er|sie|es|man) (?:\S+ ){1,3}[a-zäöüß]{3,}(?:t|te|ten) (?:noch |auch |mehr |hier |dort )?(?:nicht|nichts|kein|keine|keinen|nur|nie|niemals|immer)\b`)
	deLeave  = lazy.Compile(`^(?:lass|lasse|lasst) .*(?:in ruhe|so wie|wie (?:es|sie|er)\b|unverändert|unangetastet|stehen|drin|bestehen)|^(?:finger|hände) weg v|^behalte\b.*\bbei$|^(?:behalte|bleib|bleibt) (?:die|den|das|der|bei|unter|in|auf)\b`)
	deWants  = lazy.Compile(`^ich (?:will|möchte) (?:auf keinen fall |hier |da |dort )?(?:kein|keine|keinen|keinerlei|nicht|nichts|nur)\b`)
	deNone   = lazy.Compile(`^(?:niemand|nichts) (?:darf|geht|kommt|fasst|ändert|löscht|pusht|verlässt|wird)\b.* \S|^nicht ohne mein|\bohne (?:mein|meine|meinen) (?:ok|okay|zustimmung|freigabe|einverständnis)\b|\bbis ich (?:\S+ ){0,4}(?:sage|freigebe|freigegeben|zustimme|gebe|habe)`)
	deState  = lazy.Compile(`^(?:\S+ ){1,6}(?:ist|sind|bleibt|bleiben) (?:tabu|heilig|unantastbar)\b|^alles (?:auf|in|per|über) \S+$|^(?:ein|eine|einen|pro|je) \S+ (?:pro|je|ein|eine|einen) \S+$|^(?:jede|jeder|jedes|alle) (?:\S+ ){1,4}(?:braucht|brauchen|bekommt|bekommen|muss|müssen) `)
	deSelf   = lazy.Compile(`\b[a-zäöüß]{3,}e ich (?:\S+ ){0,3}(?:selbst|selber)$|^ich [a-zäöüß]{3,}e .*(?:selbst|selber)$`)
	deMay    = lazy.Compile(`\b(?:du darfst|ihr dürft|darfst du) .*(?:aber|jedoch|außer) .*\b(?:nicht|kein|keine|keinen|nur|nie)\b|\b(?:musst|brauchst) (?:mich )?(?:\S+ ){0,3}nicht mehr (?:zu )?fragen|^ab (?:jetzt|sofort|heute)\b.* \S`)

	// French: "ne" at the beginning with a negation, or a verb with "sans" or "seulement".
	frNever = lazy.Compile(`^(?:surtout,? )?(?:ne |n')(\S+)(?: \S+){0,4}? ?\b(?:pas|rien|aucun|aucune|jamais|plus|que|personne)\b`)
	frNeInf = lazy.Compile(`\b(?:merci de|veuillez|prière de|tâche de|évite de|essaie de) (?:ne |n')?\S+|^(?:évite|évitez) |\bne (?:doit|doivent|dois|devez|devons) (?:pas|jamais|plus|rien|en aucun cas)\b|\bdoi(?:t|vent) rester\b|\brestent? (?:inchang|tels? quel|telles? quelles?|comme|en l'état|intact)`)
	frWants = lazy.Compile(`^je (?:ne veux|n'veux|veux) (?:pas|aucun|aucune|plus|rien|seulement|uniquement|que)\b|^(?:on|tu|vous|personne) (?:ne |n')(\S+)(?: \S+){0,3}? ?(?:pas|jamais|rien|plus|aucun|aucune|à|de|sur|au)\b`)
	frOrder = lazy.Compile(`^(?:utilise|utilisez|écris|écrivez|fais|faites|modifie|modifiez|change|changez|publie|publiez|ajoute|ajoutez|touche|touchez|corrige|corrigez|réponds|répondez|prends|prenez|lance|lancez|mets|mettez|travaille|regarde|envoie|envoyez|supprime|teste|traite|cite|commente|signale|garde|gardez) .*(?:\b(?:seulement|uniquement|sans|jamais|toujours|exclusivement|rien d'autre|rien de plus)\b|\bavant (?:de|d'|chaque|tout|toute)\b)`)
	frKeep  = lazy.Compile(`^(?:garde|gardez|conserve|conservez|laisse|laissez|respecte|respectez) (?:la|le|les|l'|ce|cet|cette|ces|tout|mon|ma|mes|nos|notre)\S* ?\S|^(?:reste|restez) (?:en |dans |sous |sur |à |au )|^ignore[zr]? (?:le |la |les |l'|tout )`)
	frShort = lazy.Compile(`^(?:seulement|uniquement|exclusivement|jamais|toujours|aucun|aucune|sans) \S+|^pas (?:de|d'|un|une|avant|sans|sur|le|plus de|touche)\b|(?:,| et|;) rien (?:d'autre|de plus)$|^rien d'autre que |^(?:une?|\d+) \S+ par \S+$|^tout en \S+$|^(?:chaque|tous les|toutes les) (?:\S+ ){1,4}(?:doi(?:t|vent)|a besoin|ont besoin) `)
	frFirst = lazy.Compile(`^(?:demande|préviens|dis|montre|avertis|demandez|prévenez|dites|montrez|attends|attendez|consulte|fais)[- ].*\bavant (?:de|d'|que|tout|toute|chaque)\b|^(?:attends|attendez) (?:mon|ma)\b|\bsans (?:mon|ma) (?:accord|validation|permission|autorisation|feu vert)\b|\bavant (?:que je (?:ne )?\S+|mon (?:accord|feu vert|ok))|\bjusqu'à ce que je\b|\btant que je n'ai pas\b`)
	frMay   = lazy.Compile(`\b(?:tu peux|vous pouvez) .*(?:mais|sauf) (?:pas|jamais|rien|seulement|uniquement|sans|ne|n')|\bplus besoin de (?:me )?demander|^(?:désormais|dorénavant|à partir de maintenant|à partir d'aujourd'hui),? \S|\bmoi-même$|\bje m'en (?:occupe|charge)\b|\bje m'occupe d`)
	frLimit = lazy.Compile(`(?:^|[ ,(])(?:au (?:plus|maximum|moins|minimum)|maximum|max\.?|pas plus de) \d`)

	// Spanish: "no" with a subjunctive, "nunca", "solo", "sin".
	esNever = lazy.Compile(`^(?:no|ni) (?:me |te |lo |la |los |las |le |se |nos )?([a-záéíóúñ]+)(?: |$)`)
	esShort = lazy.Compile(`^(?:solo|sólo|solamente|únicamente|exclusivamente|nunca|jamás|siempre|sin|nada de|ningún|ninguna) \S+|(?:,| y|;) nada más$|^(?:un|una|\d+) \S+ por \S+$|^todo en \S+$|^(?:cada|todos los|todas las) (?:\S+ ){1,4}(?:debe|deben|necesita|necesitan|tiene que|tienen que|lleva|llevan) `)
	esOrder = lazy.Compile(`^(?:usa|utiliza|escribe|haz|modifica|cambia|publica|añade|agrega|toca|corrige|responde|toma|lanza|pon|trabaja|mira|envía|borra|prueba|trata|cita|comenta|ejecuta|revisa|traduce|crea|sube|instala|compra|reserva) .*(?:\b(?:solo|sólo|solamente|únicamente|sin|nunca|siempre|nada más)\b|\bantes de (?:cada|hacer|todo|\S+[aei]r)\b)`)
	esKeep  = lazy.Compile(`^(?:mantén|mantenga|mantengan|conserva|conserve|respeta|respete) \S|^(?:deja|deje|dejad) .*(?:como está|como estaba|en paz|tal cual|sin tocar|intact|igual)|^ignora (?:el|la|los|las|todo) |\b(?:queda|quedan|se queda|se quedan) (?:como|igual|intact|tal cual)`)
	esFirst = lazy.Compile(`^(?:pregúntame|avísame|consúltame|enséñame|muéstrame|pregunta|avisa|consulta|espera|dime).*\b(?:antes de|antes)\b|^espera (?:a )?(?:mi|que)\b|\bsin mi (?:permiso|aprobación|visto|ok|autorización|confirmación)\b|\bhasta que (?:yo|te|lo)\b|\bantes de que (?:yo|te)\b|\bantes de [a-záéíóú]+[aei]r\b.*\b(?:pregúntame|avísame|consúltame)`)
	esMay   = lazy.Compile(`\b(?:puedes|pueden|podéis) .*(?:pero|salvo|excepto) (?:no|nunca|solo|sólo|sin|nada)\b|\bya no (?:hace falta|tienes) que (?:me )?pregunt|^(?:a partir de ahora|de ahora en adelante|desde ahora),? \S|\b(?:yo mismo|yo misma)$|\b(?:me encargo|lo hago) yo\b|^nadie (?:toca|modifica|cambia|borra|sube|publica|edita) `)
	esWants = lazy.Compile(`^(?:no quiero|quiero (?:solo|sólo|que no))\b`)
	esPast  = lazy.Compile(`^(?:(?:me|te|lo|la|se|nos|le) )?(?:\S+(?:é|ó|aba|ían?|aron|ieron|imos|amos)|(?:ve|puede|sabe|entiende|muestra|carga|encuentra|abre|guarda|parece|nota))(?:[ .,!]|$)`)
	// Portuguese: "não" with a subjunctive, "nunca", "só", "sem".
	ptNever = lazy.Compile(`^não (?:me |o |a |os |as |se )?(?:instale|altere|mude|apague|use|toque|mexa|faça|ponha|envie|publique|crie|remova|adicione|inclua|exclua|execute|rode|suba|edite|escreva|modifique|exponha|mostre|compre|reserve|responda|renomeie|reinicie|delete|atualize|mova|copie|grave|salve|chame|invente|assuma|pague|aceite|comite)\b`)
	ptShort = lazy.Compile(`^(?:só|somente|apenas|nunca|jamais|sempre|nada de|nenhum|nenhuma) \S+|^sem \S{3,}|^tudo em \S+$|^(?:um|uma|\d+) \S+ por \S+$`)
	ptKeep  = lazy.Compile(`^(?:mantenha|preserve|respeite) \S|^(?:deixe|deixa) .*(?:como está|como estava|em paz|intact|igual|sem mexer)`)
	ptFirst = lazy.Compile(`^(?:me )?(?:pergunte|avise|mostre|consulte|confirme|espere|aguarde)(?:-me)?\b.*\bantes\b|\bsem (?:a )?minha (?:permissão|aprovação|autorização|confirmação)\b|\baté (?:que )?eu (?:diga|aprove|confirme|libere)\b`)
	ptMay   = lazy.Compile(`\b(?:pode|podem) .*(?:mas|exceto|menos) (?:só|apenas|somente|não|nunca|nada|sem)\b|\beu mesm[oa] \S+|^a partir de agora,? \S`)
	ptFacts = strings.Fields("é são está estão foi era tem há falha falham funciona funcionam existe parece uma para que isso dá deu vejo acho quero preciso")

	esLimit = lazy.Compile(`(?:^|[ ,(])(?:máximo|como máximo|a lo sumo|no más de|al menos|como mínimo|mínimo) (?:de )?\d`)
)

// Words and phrases that distinguish descriptions from rules, by language.
var (
	deFacts  = strings.Fields("ist sind war waren wird werden wurde wurden kann können konnte konnten hat haben hatte habe hab hatten bin will wollte wollen soll sollte sollten muss müssen musste ich wir er sie es man glaube scheint ging geht weiß könnte könnten würde würden dürfte warum wieso wenn")
	frFacts  = strings.Fields("marche fonctionne passe compile répond a est ont sont avait était sait peut voit comprend trouve comprends sais vois peux trouve suis ai faut va vais m'a semble pense suffit sert existe donne renvoie affiche reste veut veulent peuvent savent t'inquiète inquiète démarre tourne")
	esFacts  = strings.Fields("se cae tienes puedes quieres sabes eres crees entiendes ves haces dices vienes sales pareces conoces pones es después antes entonces lunes martes miércoles jueves viernes interés tres seis mes veces sirves recibes esperes obtienes vuelves parece pide tiene puede quiere sabe existe sale hace responde viene entiende cree debe debes ve conoce mueve consigue ocurre sirve aparece recibe arranque sé que porque aunque siempre corre pierde devuelve este ese")
	esStates = strings.Fields("hay existen existe está están son era fue ha han he hemos tengo veo entiendo puedo funciona importa encuentro recuerdo arranca compila")
	esSmall  = strings.Fields("el la los las un una nada ningún ninguna en de del al mi tu su este esta esto eso más sin con por hasta que ni lo nunca para")
	esDeeds  = strings.Fields("uses hagas toques borres cambies publiques instales subas ejecutes escribas modifiques añadas elimines envíes mandes pongas abras cierres muevas edites actualices despliegues mezcles compres reserves respondas contestes renombres reinicies incluyas inventes asumas")
	frIdle   = []string{"pas de problème", "pas de souci", "pas de soucis", "pas de quoi", "pas un problème", "pas de chance", "pas d'erreur", "pas de changement", "pas de réponse", "pas le temps", "laisse tomber", "laisse-moi", "laissez-moi", "sans doute", "sans problème", "sans souci", "sans surprise", "jamais vu", "jamais eu", "toujours pas", "toujours le", "toujours la", "toujours les", "toujours rien", "toujours en", "ne t'inquiète", "ne change rien", "ne change pas grand", "ne t'en fais", "ne vous inquiétez", "n'hésite", "aucun problème", "aucun souci", "aucune idée", "aucune erreur", "aucun changement", "pas de résultat", "n'est-ce pas"}
	esIdle   = []string{"no te preocupes", "no pasa nada", "solo una pregunta", "solo quería", "solo quiero", "solo para", "solo que", "solo una duda", "solo falla", "solo me", "solo se", "solo es", "solo funciona", "solo ocurre", "solo pasa", "sólo una pregunta", "sin problema", "sin embargo", "sin duda", "siempre falla", "siempre es", "siempre me", "siempre se", "nunca he", "nunca ha ", "nunca se", "nunca me", "nunca fue", "nunca funcion", "nunca lleg", "nada de eso", "ningún problema", "ninguna idea", "sem problema", "sem dúvida", "só uma "}
	deIdle   = []string{"macht nichts", "mach dir ", "macht euch ", "keine ahnung", "keine sorge", "keine eile", "kein problem", "keine frage", "keine fehler", "kein fehler", "nicht schlimm", "nicht sicher", "nichts gefunden", "nichts zu ", "kein wunder", "ohne erfolg", "keine änderung", "keine antwort"}
)

// rulesAbroad reports whether a lower-case sentence, which is not a question, sets a rule
// in German, French, Spanish or Portuguese.
func rulesAbroad(low string) bool {
	low = bareClause(low)
	if idleAbroad(low) || asksAbroad(low) {
		return false
	}
	if deMay.MatchString(low) || frMay.MatchString(low) || esMay.MatchString(low) || ptMay.MatchString(low) || ptFirst.MatchString(low) || frFirst.MatchString(low) || esFirst.MatchString(low) || strings.Contains(" "+low, " nicht bevor ich") {
		return true
	}
	parts := clausesAbroad(low)
	for i, c := range parts {
		if c = bareClause(c); c != "" && !(i+1 < len(parts) && prose.BeginsAny(c, []string{"ohne ", "sans ", "sin ", "sem "})) && !idleAbroad(c) && (ordersPortuguese(c) || ordersGerman(c) || ordersFrench(c) || ordersSpanish(c)) {
			return true
		}
	}
	return false
}

// idleAbroad reports whether a German, French or Spanish sentence begins like an answer, or
// states that something is not so: "pas de problème", "no funciona".
func idleAbroad(low string) bool {
	if rest, ok := strings.CutPrefix(low, "no "); ok && !strings.HasPrefix(rest, "hay que ") {
		verb, _, _ := strings.Cut(strings.TrimRight(rest, ".!,"), " ")
		if esPast.MatchString(rest) {
			return true
		}
		if verb != "tres" && verb != "este" && verb != "ese" && verb != "debes" && verb != "debe" && (slices.Contains(esFacts, verb) || slices.Contains(esStates, verb)) {
			return true
		}
	}
	return prose.BeginsAny(low, frIdle) || prose.BeginsAny(low, esIdle) || prose.BeginsAny(low, deIdle)
}

// asksAbroad reports whether a sentence begins like a question, or considers something.
func asksAbroad(low string) bool {
	return prose.BeginsAny(low, []string{"warum ", "wieso ", "weshalb ", "wie ", "was ", "wo ", "wann ", "wer ", "kann ", "kannst ", "können ", "könntest ", "ist ", "hast ", "hat ", "soll ", "sollen ", "sollten ", "vielleicht ", "ich glaube ", "ich denke ", "wenn ",
		"pourquoi ", "comment ", "est-ce ", "qu'est", "quand ", "peux-tu ", "pouvez-vous ", "peut-être ", "je pense ", "je crois ", "si ", "por qué ", "cómo ", "qué ", "cuándo ", "puedes ", "podrías ", "quizás ", "tal vez ", "creo que "}) &&
		!deMay.MatchString(low) && !frMay.MatchString(low) && !esMay.MatchString(low)
}

// foreignClauses replaces the separators of clauses by commas.
var foreignClauses = strings.NewReplacer(". ", ",", "! ", ",", ": ", ",", " mais ", ",", " pero ", ",", " aber ", ",", " mas ", ",", " sondern ", ",")

// clausesAbroad splits a sentence at commas and semicolons.
func clausesAbroad(low string) []string {
	return strings.FieldsFunc(foreignClauses.Replace(low), func(r rune) bool { return r == ',' || r == ';' || r == '–' || r == '—' || r == '(' })
}

// mostShort is the maximum number of words of a rule without a verb.
const mostShort = 8

func ordersGerman(c string) bool {
	words := strings.Fields(c)
	facts := slices.ContainsFunc(words, func(w string) bool { return slices.Contains(deFacts, w) })
	switch {
	case deOrder.MatchString(c), deLeave.MatchString(c), deWants.MatchString(c), deNone.MatchString(c), deState.MatchString(c), deSelf.MatchString(c) && !prose.HasAnyWord(c, []string{"habe", "hatte", "wusste", "sehe", "verstehe", "glaube", "merke", "finde"}):
		return true
	case deFinite.MatchString(c) && !strings.HasPrefix(c, "bitte"):
		return false
	case strings.HasPrefix(c, "ohne "):
		return len(words) <= mostShort && len(words) > 1 && !facts
	}
	return deInfin.MatchString(c) && !facts && len(words) <= mostPlain/2
}

func ordersFrench(c string) bool {
	words := strings.Fields(c)
	if m := frNever.FindStringSubmatch(c); m != nil {
		return !slices.Contains(frFacts, m[1])
	}
	if m := frWants.FindStringSubmatch(c); m != nil {
		return !slices.Contains(frFacts, m[1])
	}
	if frNeInf.MatchString(c) || frOrder.MatchString(c) || frKeep.MatchString(c) {
		return !prose.BeginsAny(c, []string{"merci de ton", "merci de votre", "merci de m'", "il ", "elle ", "ça ", "c'est "})
	}
	facts := slices.ContainsFunc(words, func(w string) bool { return slices.Contains(frFacts, w) })
	return frShort.MatchString(c) && len(words) <= mostShort && !facts || frLimit.MatchString(c) && !facts && len(words) <= mostPlain/2
}

func ordersPortuguese(c string) bool {
	if ptNever.MatchString(c) || ptKeep.MatchString(c) {
		return true
	}
	words := strings.Fields(c)
	return ptShort.MatchString(c) && len(words) <= mostShort && !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(ptFacts, w) })
}

func ordersSpanish(c string) bool {
	words := strings.Fields(c)
	if m := esNever.FindStringSubmatch(c); m != nil && subjunctive(m[1]) && (slices.Contains(esDeeds, m[1]) || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(esSmall, w) })) {
		return true
	}
	if esOrder.MatchString(c) || esKeep.MatchString(c) || esWants.MatchString(c) {
		return true
	}
	facts := slices.ContainsFunc(words, func(w string) bool { return slices.Contains(esFacts, w) || w == "hay" || w == "está" || w == "son" })
	return (esShort.MatchString(c) || esLimit.MatchString(c)) && len(words) <= mostShort && !facts
}

// subjunctive reports whether a Spanish verb after "no" has the ending of a command: "no
// toques", "no publique", "no hagas".
func subjunctive(verb string) bool {
	if slices.Contains(esFacts, verb) || len(verb) < 3 {
		return false
	}
	for _, end := range []string{"es", "éis", "emos", "gas", "gan", "gáis", "nga", "aga", "ngas", "vas", "bas", "ban", "ues", "que", "gue", "ice", "ten", "cas", "can", "jas", "jan", "das", "dan", "ñadas", "pas", "pan", "ye", "bie", "pie", "íe", "rre", "ine", "ute", "ale", "ate", "ique"} {
		if strings.HasSuffix(verb, end) {
			return !slices.Contains([]string{"trabajas", "necesitas", "acabas", "buscas", "sacas", "tocan", "buscan", "ayudas", "puedan", "quedan", "guardan", "guardas", "cargan", "cargas", "llegan", "llegas", "pagan", "pagas", "ocupan", "prueban", "acaban", "deben", "ven", "existen", "vale"}, verb)
		}
	}
	return slices.Contains([]string{"use", "borre", "toque", "haga", "ponga", "escriba", "suba", "añada", "copie", "envíe", "mande", "meta", "abra", "cree", "instale", "toquen", "usen", "borren", "cambien", "envíen", "suban"}, verb)
}
