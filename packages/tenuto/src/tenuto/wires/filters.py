"""Filters, blocked accounts and spent ones, in the words of all vendors (E12a).

A filter answers with any status: 400 as for a malformed request (DeepSeek, Anthropic), 403 as for a
wrong key (Grok, OpenRouter), 500 (MiniMax) or 446 (gateways), or with an error in the middle of a
stream. The same request would be blocked again, and another key would not help. So these rows stand
before those of keys, limits and statuses, on every wire: gateways pass all of these words on.

Read in public issues and the vendors' lists of errors (2026-11-28): xAI "Content violates usage
guidelines", DeepSeek "Content Exists Risk", MiniMax "output new_sensitive (1027)", Alibaba
"DataInspectionFailed", Zhipu 1301, Moonshot "considered high risk", Volcengine
"SensitiveContentDetected", StepFun "censorship_blocked", Azure "ResponsibleAIPolicyViolation",
OpenAI "invalid_prompt" and "cyber_policy", Bedrock "blocked by our content filters", LiteLLM
"Violated guardrail policy", Cloudflare 2016 and 2017. Read on 2026-11-30: iFlytek's
10019 "本次会话内容有涉及违规信息的倾向", Databricks' "input_guardrail_triggered", Portkey's
"hooks_failed".
"""

from __future__ import annotations

from tenuto.core.answer.fault import FaultKind
from tenuto.wires.errors import ErrorRow, row

_POLICY = (
    r"usage guideline|(?<!fair )usage polic|content guideline|content (?:management )?polic"
    r"|content safety|safety (?:polic|guideline)|acceptable use|community guideline|guardrail"
    r"|moderation|responsible (?:ai|use)|misuse polic|prohibited (?:use|content)"
)
_OF_CONTENT = (
    r"content (?:filter|polic|moderat|safety|guideline|management)|safety|moderation|guardrail"
    r"|model armor|responsible ai|prompt shield|prohibited[ _]content|recitation|blocklist"
)
_CONTENT = r"(?:content|prompt|input|output|message|conversation|image|completion|response|text)s?"

_WORDS = (
    rf"violat(?:e|es|ed|ing|ion of) (?:\S+ ){{0,4}}?(?:{_POLICY})",
    (
        r"(?:blocked|rejected|refused|filtered|flagged|stopped|withheld)"
        rf" (?:by|due to|for|because of) (?:\S+ ){{0,3}}?(?:{_OF_CONTENT})"
    ),
    rf"{_CONTENT} (?:was|were|is|has been|have been) (?:\w+ )?flagged",
    rf"flagged (?:this|your|the) {_CONTENT}|flagged for (?:\w+ )?(?:cyber|safety|bio)",
    r"guardrails? (?:\w+ )?(?:intervened|blocked|violat|triggered|tripped)",
    r"content (?:was |is |has been |you provided or machine output\w* is )?blocked\b(?! by waf)",
    r"blocked (?:output|input)\b|(?:prompt|response) blocked due to security",
    r"content filtering policy|content management policy|filtered due to the prompt",
    r"content[_ ]?policy[_ ]?violation|data_?inspection_?failed|responsibleaipolicyviolation",
    r"safety_check_type|safety system|for safety reasons|responsible ai (?:practices|polic)",
    r"prohibited_content|requires moderation|content moderation (?:failed|blocked|rejected)",
    # LiteLLM's, Kong's and Snowflake's guards, and Databricks', whose errors have no other words.
    r"blocked entity detected|prompt pattern is blocked|filtered by cortex guard",
    r"(?:input|output)_guardrail_triggered|guardrail checks (?:\S+ ){0,5}?failed",
    r"content exists risk|considered (?:to be )?(?:a )?high[- ]risk",
    r"new_sensitive|sensitive_?content_?detected|inappropriate content",
    r"unsafe or sensitive|contains? sensitive (?:content|information|words?)",
    r"sensitive (?:content|words?|information) (?:was |were |is )?(?:detected|found)",
    # Zhipu, Baidu, Tencent and iFlytek: sensitive, in breach of rules, not passed by the review.
    r"敏感内容|敏感词|敏感信息|内容违规|违规内容|违规信息|涉嫌违规",
    r"审核不通过|审核未通过|内容安全|存在安全风险",
)

_CODES = (
    r"(?:safety|sensitive|moderation|moderated|blocklist|censorship|guardrails?|recitation|spii"
    r"|flagged(?:_input)?|invalid_prompt|hooks_failed|1301|1026|1027|2016|2017)\Z"
    r"|.*(?:content_?(?:filter|violation|blocked|policy|safety|moderat|censor|inspection)"
    r"|sensitive_?content|new_?sensitive|data_?inspection|prohibited_?content|censorship_"
    r"|guardrails?_?(?:violat|block|interven|trigger)|moderation_?(?:block|fail|flag|violat)"
    r"|responsible_?ai|usage_?policy|safety_?(?:block|violat|policy|error)"
    r"|(?:bio|cyber|misalignment)_policy)"
)

UNPAID = row(
    FaultKind.PAYMENT,
    # OpenAI's, Moonshot's, and those of proxies.
    "insufficient_quota billing_hard_limit_reached billing_not_active",
    "exceeded_current_quota_error insufficient_balance insufficient_user_quota",
    "insufficient_credits payment_required credit_limit budget_exceeded billing_disabled",
    # Anthropic's.
    "billing_error organization_on_hold linked_organization_billing_unavailable",
    "contract_spend_limit_reached enforced_spend_limit_reached",
    "linked_organization_spend_limit_reached",
    # Alibaba's, Volcengine's, MiniMax's, Zhipu's.
    "arrearage accountoverdueerror 1008 1113 1309",
    words=r"insufficient (?:account )?(?:balance|funds|credits?)\b"
    r"|^not enough (?:balance|credits?|funds)\b(?! in)|used all (?:\w+ )?credits"
    r"|(?:your|prepaid|prepayment|account) (?:\w+ )?credits (?:are|were) (?:depleted|exhausted)"
    r"|(?:account|credit|your) balance (?:is |was )?(?:insufficient|exhausted|too low|overdue)"
    r"|overdue (?:balance|payment|bills?)\b|account is (?:overdue|in arrears|in good standing)"
    r"|(?:exceeded|reached) (?:\S+ ){0,3}?spend(?:ing)? (?:cap|limit)|^budget has been exceeded!"
    r"|requires billing to be enabled|^key limit exceeded"
    r"|specified (?:workspace )?API usage limits|plan package has expired|余额不足|欠费|套餐已到期",
)
"""Nothing is left to pay with. Providers report it with status 402, 403 or 400, or with 429 as if
waiting would help. The words are those of xAI, Google, Anthropic, OpenRouter, LiteLLM, DeepSeek,
Moonshot, Novita, Volcengine, Alibaba and Zhipu (read 2026-11-30)."""

NO_ACCESS = row(
    FaultKind.AUTHENTICATION,
    words=r"not authorized to (?:perform|access|invoke)|(?:identity|resource)-based policy"
    r"|service control policy"
    r"|(?:account|organization|organisation|api key|user|access)"
    r"(?: (?!stream|session|request|connection)\S+){0,3}?"
    r" (?:deactivated|suspended|banned|disabled|terminated|revoked)\b",
)
"""A block of the account, whose words may name the same policies as those of a filter."""

FILTERED = row(
    FaultKind.CONTENT_BLOCKED,
    # OpenAI's; the codes of others have many spellings.
    "invalid_prompt bio_policy cyber_policy misalignment_policy_violation",
    "image_content_policy_violation",
    words="|".join(_WORDS),
    named=_CODES,
    statuses=range(446, 447),  # guardrails of gateways (Portkey, WSO2)
)

BLOCKED: tuple[ErrorRow, ...] = (UNPAID, NO_ACCESS, FILTERED)
"""All three, for the table of each wire."""
