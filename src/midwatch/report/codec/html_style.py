"""The style of the report's page, for light and dark screens, wide and narrow windows, and paper."""

STYLE = """
:root{--paper:#fbfaf7;--ink:#22262b;--soft:#68717c;--line:#e3e0d8;--card:#fff;--track:#efece5;
--work:#2f8f6b;--wait:#dd9c12;--limit:#7c68c8;--bad:#cb4438;--idle:#b9c7d6;--hatch:#cbc6ba}
@media (prefers-color-scheme:dark){:root{--paper:#16191d;--ink:#e6e4df;--soft:#97a0aa;--line:#2c3238;--card:#1e2328;
--track:#22272d;--work:#46b188;--wait:#e8b13b;--limit:#9b8ae4;--bad:#ee7061;--idle:#4a5a6b;--hatch:#444b53}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:1080px;margin:0 auto;padding:2.5rem 1.5rem 3rem}
header{border-bottom:1px solid var(--line);padding-bottom:1rem}
.place{margin:0;color:var(--soft);font-size:.95rem;overflow-wrap:anywhere}
h1{margin:.1rem 0 0;font-size:1.6rem;line-height:1.25;font-weight:650;letter-spacing:-.01em}
h2{margin:2.4rem 0 .8rem;font-size:1.05rem;font-weight:650}
ul,ol{list-style:none;margin:0;padding:0}
p{margin:0}
.summary{display:flex;flex-wrap:wrap;gap:.5rem 2.2rem;margin-top:1.1rem;color:var(--soft)}
.figure b{font-size:1.35rem;font-weight:650;color:var(--ink);font-variant-numeric:tabular-nums;margin-right:.15rem}
.alert b{color:var(--bad)}
.calm,.none{margin-top:1.6rem;color:var(--soft)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,300px),1fr));gap:.8rem}
.card{background:var(--card);border:1px solid var(--line);border-left:4px solid var(--wait);border-radius:8px;
padding:.8rem 1rem}
.c-bad{border-left-color:var(--bad)}.c-limit{border-left-color:var(--limit)}
.reason{color:var(--soft);font-size:.95rem;overflow-wrap:anywhere}
code{font:.85rem/1.5 ui-monospace,SFMono-Regular,Menlo,monospace;overflow-wrap:anywhere}
.card code{display:inline-block;margin-top:.5rem;padding:.1rem .5rem;background:var(--track);border-radius:5px}
.state{font-size:.85rem;font-weight:600;white-space:nowrap}
.s-good{color:var(--work)}.s-work{color:var(--work)}.s-wait{color:var(--wait)}.s-limit{color:var(--limit)}
.s-bad{color:var(--bad)}.s-plain{color:var(--soft)}
.agent{color:var(--soft);font-size:.85rem}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;color:var(--soft);font-size:.85rem;margin-bottom:.6rem}
.legend .p{position:static;display:inline-block;width:.8rem;height:.8rem;border-radius:3px;vertical-align:-.08rem;
margin-right:.4rem}
.row{display:grid;grid-template-columns:minmax(0,17rem) minmax(0,1fr);gap:0 1.4rem;align-items:center;
padding:.7rem 0;border-top:1px solid var(--line)}
.who p:first-child{overflow-wrap:anywhere}
.spent{color:var(--soft);font-size:.82rem;line-height:1.4}
.track{position:relative;height:1.7rem;background:var(--track);border-radius:6px;overflow:hidden}
.p{position:absolute;top:0;bottom:0;min-width:2px}
.p-working{background:var(--work)}.p-waiting{background:var(--wait)}.p-limited{background:var(--limit)}
.p-stuck{background:var(--bad)}.p-idle{background:var(--idle)}
.p-not-observed{background:repeating-linear-gradient(135deg,var(--hatch) 0 2px,transparent 2px 7px)}
.mark{position:absolute;top:0;bottom:0;width:2px;background:var(--paper);box-shadow:0 0 0 1px var(--ink)}
.scale{border-top:0;padding:0}
.ticks{height:1.4rem;background:none;overflow:visible;border-radius:0}
.ticks span{position:absolute;transform:translateX(-50%);color:var(--soft);font-size:.8rem;
font-variant-numeric:tabular-nums;white-space:nowrap}
.ticks .first{transform:none}.ticks .last{transform:translateX(-100%)}
.note{margin-top:.9rem;color:var(--soft);font-size:.85rem;max-width:44rem}
.events li{display:grid;grid-template-columns:5.5rem minmax(0,1fr);padding:.4rem 0;border-top:1px solid var(--line)}
time{color:var(--soft);font-variant-numeric:tabular-nums}
footer{margin-top:2.6rem;color:var(--soft);font-size:.85rem}
@media (max-width:640px){main{padding:1.5rem 1rem 2rem}h1{font-size:1.3rem}
.row{grid-template-columns:minmax(0,1fr);gap:.5rem}.scale>div:first-child{display:none}
.ticks span:nth-child(even){display:none}.events li{grid-template-columns:4.2rem minmax(0,1fr)}}
@media print{body{background:#fff;font-size:12px}.p,.mark{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""
