"""Verbs, adjectives and adverbs of the built-in corpus, as tables.

A line of VERBS is `frame: synset | subject classes | object classes | options`. The lemmas of a synset,
joined by `/`, are near-synonyms; `+up` is a particle that goes with the lemma. Options: `by`, the class of
noun that may serve as the instrument ("with the hammer"); `anti`, the antonym, by its first lemma. Classes
may be narrowed to a topic (`tool:building`) or be one synset, by its first lemma.
"""

from bove.demo.nouns import words

VERBS = """
trans: chase/pursue | person animal | person animal |
trans: follow/trail | person animal | person animal |
trans: notice/spot | person animal | person animal vehicle |
trans: see | person animal | person animal vehicle place |
trans: watch/observe | person | person animal event vehicle | by=tool:science
trans: help/assist | person | person | anti=hinder
trans: hinder/obstruct | person | person | anti=help
trans: greet/welcome | person | person | anti=ignore
trans: ignore/disregard | person | person abstract | anti=greet
trans: push/shove | person | person vehicle furniture | anti=pull
trans: pull/drag | person animal | person vehicle furniture | anti=push
trans: hug/embrace | person | person |
trans: kiss | person | person |
trans: praise/commend | person organisation | person organisation abstract | anti=criticize
trans: criticize/condemn | person organisation | person organisation abstract | anti=praise
trans: blame | person organisation | person organisation |
trans: thank | person | person |
trans: hit/strike | person | person animal furniture | by=tool:building
trans: kick | person animal | person animal toy |
trans: bite | animal | person animal |
trans: lick | animal | person animal food |
trans: scare/frighten | person animal | person animal | anti=calm
trans: calm/soothe | person | person animal | anti=scare
trans: rescue/save | person animal | person animal |
trans: attack/assault | person animal | person animal organisation | by=tool:army
trans: photograph | person | person animal place event |
trans: draw/sketch | person | person animal place vehicle |
trans: carry/haul | person animal | tool container instrument furniture |
trans: lift/hoist | person | container furniture tool instrument |
trans: pick+up | person | toy tool container document clothes |
trans: throw/toss | person | toy tool container |
trans: catch/grab | person animal | toy animal |
trans: find/discover | person animal | toy tool document clothes animal | anti=lose
trans: lose/misplace | person | toy tool document clothes | anti=find
trans: hide/conceal | person animal | toy tool document food |
trans: steal/snatch | person animal | vehicle document toy food instrument clothes |
trans: buy/purchase | person organisation | food vehicle clothes furniture instrument | anti=sell
trans: acquire/obtain | organisation | organisation |
trans: finance/fund | organisation | organisation person event |
trans: sue | person organisation | person organisation |
trans: advise/counsel | person organisation | person organisation |
trans: warn | person organisation | person organisation |
trans: investigate/probe | person organisation | organisation person event |
trans: hire/employ | person organisation | person | anti=dismiss
trans: dismiss/sack | person organisation | person | anti=hire
trans: reject/rebuff | person organisation | abstract | anti=approve
trans: approve/endorse | person organisation | abstract document | anti=reject
trans: support/back | person organisation | person organisation abstract | anti=oppose
trans: oppose/resist | person organisation | person organisation abstract | anti=support
trans: announce/unveil | person organisation | abstract event |
trans: discuss/debate | person organisation | abstract document event |
trans: eat/devour | person animal | food | by=spoon
trans: prepare/cook | person | food | by=pan
trans: drink/sip | person | drink |
trans: pour/spill | person | drink |
trans: cut/slice | person | food | by=knife
trans: read/study | person | document |
trans: write/compose | person | document |
trans: publish/print | person organisation | document |
trans: sign | person organisation | document |
trans: tear+up | person | document |
trans: repair/mend | person | vehicle tool furniture instrument | by=tool:building anti=break
trans: break/smash | person animal | furniture container tool instrument | by=tool:building anti=repair
trans: build/construct | person organisation | furniture place vehicle | by=tool:building anti=destroy
trans: destroy/demolish | person organisation | furniture place vehicle | by=tool:building anti=build
trans: clean/wash | person | clothes vehicle animal container | by=brush
trans: paint | person | furniture place vehicle | by=brush
trans: move/shift | person | furniture container vehicle |
trans: drive/steer | person | vehicle |
trans: stop/halt | person | vehicle person animal | anti=start
trans: start | person | vehicle event | anti=stop
trans: play | person | instrument |
trans: wear | person | clothes |
trans: visit/tour | person | place event |
trans: enter | person animal | place | anti=leave
trans: leave/exit | person animal | place | anti=enter
trans: open | person | container store theater | anti=close
trans: close/shut | person | container store theater | anti=open
trans: attend | person | event school college |
trans: organize/arrange | person organisation | event |
trans: cancel | person organisation | event abstract |
trans: interview/question | person | person |
trans: teach/instruct | person | person |
trans: treat/cure | person:health | person animal |
trans: examine/inspect | person | person animal vehicle document | by=lens
trans: arrest/detain | person | person |
trans: train/coach | person | person animal |
trans: feed | person | animal person |
trans: love/adore | person | person animal food | anti=hate
trans: hate/despise | person | person animal food | anti=love
trans: fear/dread | person animal | person animal event |
trans: trust | person | person organisation |
trans: recognize/identify | person | person animal vehicle |
ditrans: give/hand | person | toy document food drink tool clothes instrument |
ditrans: sell | person organisation | vehicle furniture food instrument | anti=buy
ditrans: show | person | document toy place animal |
ditrans: send/mail | person organisation | document toy clothes |
ditrans: lend/loan | person | vehicle tool instrument document |
ditrans: offer | person organisation | food drink document |
ditrans: bring | person animal | food drink toy tool |
intrans: sleep/slumber | person animal | |
intrans: laugh/giggle | person | |
intrans: cry/weep | person | |
intrans: wait | person animal | |
intrans: smile/grin | person | |
intrans: sing | person | |
intrans: dance | person | |
intrans: work/toil | person | |
intrans: rest/relax | person animal | |
intrans: sit | person animal | |
intrans: stand | person animal | |
intrans: shout/yell | person | |
intrans: graze | animal | |
motion: run/sprint | person animal | | anti=walk
motion: walk/stroll | person animal | | anti=run
motion: swim | person animal | |
motion: jump/leap | person animal | |
motion: climb | person animal | |
motion: travel/journey | person | |
motion: hurry/rush | person animal | |
motion: crawl/creep | person animal | |
motion: march | person | |
motion: return | person animal | |
say: say/state | person organisation | |
say: think/believe | person | | anti=doubt
say: doubt | person | | anti=think
say: admit/concede | person organisation | | anti=deny
say: deny | person organisation | | anti=admit
say: argue/contend | person organisation | |
say: claim/assert | person organisation | |
say: know | person | |
say: report | person organisation | |
want: want/wish | person organisation | | anti=refuse
want: try/attempt | person organisation | |
want: hope | person organisation | |
want: plan/intend | person organisation | |
want: refuse/decline | person organisation | | anti=want
want: promise/pledge | person organisation | |
ask: ask/request | person organisation | person |
ask: order/command | person organisation | person | anti=forbid
ask: forbid | person organisation | person | anti=order
ask: persuade/convince | person | person |
change: rise/increase | money | | anti=fall
change: fall/drop | money | | anti=rise
change: surge/soar | money | | anti=plunge
change: plunge/slump | money | | anti=surge
"""

# past, participle of irregular verbs
IRREGULAR_VERBS = {
    "see": "saw seen", "hit": "hit hit", "bite": "bit bitten", "draw": "drew drawn",
    "throw": "threw thrown", "catch": "caught caught", "find": "found found", "lose": "lost lost",
    "hide": "hid hidden", "steal": "stole stolen", "buy": "bought bought", "eat": "ate eaten",
    "drink": "drank drunk", "cut": "cut cut", "read": "read read", "write": "wrote written",
    "tear": "tore torn",
    "mend": "mended mended", "break": "broke broken", "build": "built built", "drive": "drove driven",
    "wear": "wore worn", "leave": "left left", "shut": "shut shut", "teach": "taught taught",
    "feed": "fed fed",
    "give": "gave given", "sell": "sold sold", "show": "showed shown", "send": "sent sent",
    "lend": "lent lent",
    "bring": "brought brought", "sleep": "slept slept", "weep": "wept wept", "sing": "sang sung",
    "sit": "sat sat",
    "stand": "stood stood", "run": "ran run", "swim": "swam swum", "leap": "leapt leapt",
    "creep": "crept crept",
    "say": "said said", "think": "thought thought", "know": "knew known", "forbid": "forbade forbidden",
    "strike": "struck struck", "rise": "rose risen", "fall": "fell fallen",
}  # fmt: skip

# verbs that double the last letter before -ed and -ing
DOUBLING = {
    "hit", "cut", "shut", "grab", "hug", "spot", "swim", "run", "sit", "stop", "forbid", "drag", "sip",
    "plan",
    "admit", "grin", "drop",
}  # fmt: skip

# classes that an adjective may describe; after "<>" its antonym
ADJECTIVES = """
old/elderly: person <> young/youthful
old/worn: tool vehicle clothes furniture container toy place instrument <> new/modern
tall: person <> short
thin/slender: person animal <> fat/stout
happy/cheerful: person <> sad/unhappy
angry/furious: person animal <> calm/peaceful
rich/wealthy: person <> poor
famous/renowned: person place instrument <> unknown
brave/courageous: person animal <> cowardly
clever/smart: person animal <> foolish/stupid
strong/powerful: person animal organisation <> weak/feeble
kind/friendly: person <> cruel/brutal
honest: person <> dishonest
hungry/starving: animal person <>
tired/weary: person animal <>
nervous/anxious: person animal <> confident
blind: person animal <>
foreign: person organisation <> local
big/large: animal vehicle furniture container place organisation toy food <> small/little
heavy: tool furniture container clothes instrument <> light
wild: animal <> tame
black: animal vehicle clothes container <> white
red/crimson: vehicle clothes furniture container toy <> blue
green: vehicle clothes furniture container <> yellow
brown: animal furniture <> gray
expensive/costly: vehicle clothes furniture instrument food <> cheap/inexpensive
dirty/filthy: tool clothes container vehicle place <> spotless
empty/vacant: container place furniture <> full
fresh: food <> stale/rotten
sweet/sugary: food drink <> bitter
hot: drink <> cold/chilly
delicious/tasty: food drink <> awful
beautiful/lovely: place clothes instrument toy furniture <> ugly/hideous
wooden: furniture toy tool <> metal
long/lengthy: document event <> brief
secret/confidential: document abstract event <> public
important/significant: document abstract event <> minor/trivial
controversial: abstract document event <>
final: abstract document <> initial
annual/yearly: money event <>
quarterly: money <>
average: money <> total
crowded/busy: place <> deserted
quiet/silent: place <> noisy/loud
ancient: place document <>
private: organisation <> national
profitable: organisation <> struggling
"""

MANNERS = """
quickly/rapidly <> slowly
quietly/silently <> loudly/noisily
carefully/cautiously <> carelessly
happily/cheerfully <> sadly
angrily/furiously <> calmly
suddenly/abruptly <> gradually
gently/softly <> roughly
eagerly/keenly <> reluctantly
secretly <> openly/publicly
proudly <> modestly
"""

DEGREES = ("very", "extremely", "quite", "rather", "really")
FREQUENCIES = ("often", "always", "sometimes", "usually")
MODALS = ("can", "could", "will", "would", "should", "may", "might", "must")

# adjectives that take no degree and no comparative, by the first lemma of the synset
UNGRADABLE = set(
    words(
        "black white red blue green yellow brown gray wooden metal annual final initial quarterly average "
        "total private "
        "national local foreign blind empty full public secret unknown"
    )
)
COLOURS = set(words("black white red blue green yellow brown gray"))
# verbs that are not seen going on, by first lemma: no progressive, no caption
STATIVE = set(
    words(
        "notice see love hate fear trust recognize find lose sue advise warn blame hire dismiss reject "
        "approve support "
        "oppose acquire finance ignore know announce cancel hinder"
    )
)
