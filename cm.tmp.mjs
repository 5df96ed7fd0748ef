// Usage: node codemod.mjs ROOT  (run inside ROOT)
import { parseSync } from 'vite'
import { globSync, readFileSync, writeFileSync, existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
const FIX=['journey','vera','olga','petr','publishReported','visitQueue']
const TYPES={journey:'Journey',olga:'TestUser',petr:'TestUser',vera:'TestUser'}
const SKIP=new Set(['e2e/testing/journey.ts','e2e/testing/moderation-actions.ts'])
const files=globSync('{e2e,trials}/**/*.ts').filter(f=>!SKIP.has(f))
const F={}
const flags=[]
for(const f of files){
  const s=readFileSync(f,'utf8'); const {program}=parseSync(f,s)
  const imports=new Map(), fix=new Set(), funcs=new Map()
  for(const n of program.body){
    if(n.type==='ImportDeclaration'&&n.source.value.startsWith('.')) for(const sp of n.specifiers){
      if(FIX.includes(sp.local.name)&&/journey\.ts|moderation-actions\.ts/.test(n.source.value)) fix.add(sp.local.name)
      else if(sp.type==='ImportSpecifier') imports.set(sp.local.name,normalize(join(dirname(f),n.source.value))+'#'+(sp.imported.name))
    }
    const d=n.type==='ExportNamedDeclaration'?n.declaration:n
    if(d?.type==='FunctionDeclaration') funcs.set(d.id.name,{node:d,used:new Set(),calls:new Set()})
    if(d?.type==='VariableDeclaration') for(const v of d.declarations) if(v.init?.type==='ArrowFunctionExpression') funcs.set(v.id.name,{node:v.init,used:new Set(),calls:new Set()})
  }
  F[f]={f,s,program,imports,fix,funcs}
}
function visit(n,fn,parent,key){ if(!n||typeof n!=='object')return; if(Array.isArray(n)){for(const c of n)visit(c,fn,parent,key);return}
  if(n.type&&fn(n,parent,key)===false)return; for(const [k,v] of Object.entries(n)) if(v&&typeof v==='object') visit(v,fn,n.type?n:parent,k)}
const isRef=(n,parent,key)=>n.type==='Identifier'&&!(parent?.type==='MemberExpression'&&key==='property'&&!parent.computed)&&!(parent?.type==='Property'&&key==='key'&&!parent.shorthand)&&!/^TS/.test(parent?.type??'')&&parent?.type!=='ImportSpecifier'
function keyOf(file,name){ if(file.funcs.has(name))return file.f+'#'+name; const i=file.imports.get(name); if(i){const [pf,pn]=i.split('#'); if(pn==='visitWithNews')return 'VWN'; if(F[pf]?.funcs.has(pn))return i} }
function gather(file,node){const used=new Set(),calls=new Set(); visit(node,(n,p,k)=>{ if(!isRef(n,p,k))return; if(file.fix.has(n.name))used.add(n.name); else {const key=keyOf(file,n.name); if(key==='VWN')used.add('journey'); else if(key)calls.add(key)}}); return {used,calls}}
for(const file of Object.values(F)) for(const [name,fu] of file.funcs){Object.assign(fu,gather(file,fu.node))}
const need=key=>{const [f,n]=key.split('#');return F[f].funcs.get(n).used}
for(let ch=true;ch;){ch=false; for(const file of Object.values(F)) for(const fu of file.funcs.values()) for(const c of fu.calls) for(const u of need(c)) if(!fu.used.has(u)){fu.used.add(u);ch=true}}
const order=set=>FIX.filter(x=>set.has(x))
const needOf=(file,node)=>{const g=gather(file,node); const s=new Set(g.used); for(const c of g.calls) for(const u of need(c)) s.add(u); return order(s)}
for(const file of Object.values(F)){
  const edits=[]; const {s,f}=file; const add=(pos,text,del=0)=>edits.push({pos,text,del})
  let types=new Set()
  // functions
  const handled=new Set()
  for(const [name,fu] of file.funcs){ const ns=order(fu.used); handled.add(fu.node); if(!ns.length)continue
    for(const x of ns) if(!TYPES[x]) flags.push(`${f}: helper ${name} needs fixture ${x}`)
    const ps=fu.node.params; const text=ns.map(x=>`${x}: ${TYPES[x]??'never'}`).join(', '); ns.forEach(x=>types.add(TYPES[x]))
    if(ps.length) add(ps[0].start,text+', '); else { const open=s.indexOf('(',fu.node.type==='FunctionDeclaration'?fu.node.id.end:fu.node.start); add(open+1,text) } }
  // tests and hooks
  let hook=new Set()
  for(const n of file.program.body){ if(n.type!=='ExpressionStatement'||n.expression.type!=='CallExpression'){ 
      if(n.type==='VariableDeclaration') for(const v of n.declarations) if(v.init&&v.init.type!=='ArrowFunctionExpression'&&needOf(file,v.init).length) flags.push(`${f}: top-level ${v.id.name} needs ${needOf(file,v.init)}`)
      continue}
    const call=n.expression; const callee=s.slice(call.callee.start,call.callee.end)
    const cb=call.arguments.findLast(a=>/FunctionExpression$/.test(a.type)); if(!cb)continue
    const own=new Set(); visit(cb.body,(n)=>{ if(n.type==='VariableDeclarator'&&n.id.type==='Identifier')own.add(n.id.name) })
    const ns=needOf(file,cb).filter(x=>!own.has(x)); if(!ns.length)continue
    const obj=`{ ${ns.join(', ')} }`
    if(/^(before|after)(Each|All)$/.test(callee)){ hook.add(callee); add(call.callee.start,'test.'); if(/All/.test(callee)) flags.push(`${f}: ${callee} needs ${ns}`)
      if(cb.params.length) flags.push(`${f}: hook with params`); else add(s.indexOf('(',cb.start)+1,obj) }
    else if(call.callee.type==='CallExpression'&&/\.each$/.test(s.slice(call.callee.callee.start,call.callee.callee.end))){
      const cc=call.callee.callee; add(cc.property.start,'for',4)
      const cases=call.callee.arguments[0]; if(cases.type==='ArrayExpression'&&cases.elements.some(e=>e.type==='ArrayExpression')&&cb.params.length>=1) add(cases.end,' as const')
      if(!cb.params.length) add(s.indexOf('(',cb.start)+1,'_, '+obj)
      else if(cb.params[0].type==='RestElement') { add(cb.params[0].start,'',3); add(cb.params[0].end,', '+obj) }
      else if(cb.params.length===1) { add(cb.params[0].end,', '+obj); if(/^\(?\w+\)?$/.test(s.slice(cb.params[0].start,cb.params[0].end))&&s[cb.params[0].end]!==')') flags.push(`${f}: each param without parens`)}
      else { add(cb.params[0].start,'['); add(cb.params.at(-1).end,'], '+obj) } }
    else if(/^test(\.\w+(\(.*\))?)?$/.test(callee)){
      if(!cb.params.length) add(s.indexOf('(',cb.start)+1,obj)
      else if(cb.params[0].type==='ObjectPattern'){ add(cb.params[0].start+1,' '+ns.join(', ')+',') }
      else flags.push(`${f}: test with params ${s.slice(cb.start,cb.start+40)}`) }
    else flags.push(`${f}: other call ${callee}`)
  }
  // closures in tables of cases
  for(const n of file.program.body){ let roots=[]
    if(n.type==='VariableDeclaration') roots=n.declarations.filter(v=>v.init&&v.init.type!=='ArrowFunctionExpression').map(v=>v.init)
    if(n.type==='ExpressionStatement'&&n.expression.type==='CallExpression'&&n.expression.callee.type==='CallExpression') roots=n.expression.callee.arguments
    for(const r of roots) visit(r,(x,p)=>{ if(x.type!=='ArrowFunctionExpression')return; const ns=needOf(file,x); if(ns.length){ const open=s.indexOf('(',x.start); if(!x.params.length) add(open+1,`{ ${ns.join(', ')} }`); else add(x.params.at(-1).end,`, { ${ns.join(', ')} }`); flags.push(`${f}: closure in a table takes ${ns}`)} return false })
  }
  // calls
  visit(file.program,(n,p,k)=>{ if(!isRef(n,p,k))return; const key=keyOf(file,n.name); if(!key)return
    if(p?.type==='FunctionDeclaration'&&k==='id'||p?.type==='VariableDeclarator'&&k==='id'||p?.type==='ExportSpecifier')return
    if(key==='VWN'){ add(n.start,'journey.'); return }
    const ns=order(need(key)); if(!ns.length)return
    if(p?.type==='CallExpression'&&k==='callee'){ const open=s.indexOf('(',n.end); add(open+1,ns.join(', ')+(p.arguments.length?', ':'')) }
    else { const own=F[key.split('#')[0]].funcs.get(key.split('#')[1]).node.params.length; const a=own?'(it) =>':'() =>'; add(n.start,`${a} `); add(n.end,`(${ns.join(', ')}${own?', it':''})`) }
  })
  if(!edits.length&&!file.fix.size) continue
  // imports
  for(const n of file.program.body) if(n.type==='ImportDeclaration'){
    const src=n.source.value
    if(/\/journey\.ts$|moderation-actions\.ts$/.test(src)){
      const keep=n.specifiers.filter(sp=>!FIX.includes(sp.local.name)&&sp.local.name!=='visitWithNews').map(sp=>s.slice(sp.start,sp.end))
      if(/journey\.ts$/.test(src)&&types.has('Journey')&&!keep.some(x=>/type Journey$/.test(x))&&n.importKind!=='type') keep.push('type Journey')
      add(n.start, keep.length?`import${n.importKind==='type'?' type':''} { ${keep.join(', ')} } from '${src}'`:'', n.end-n.start)
    }
    if(src==='vitest'&&hook.size){ const keep=n.specifiers.filter(sp=>!hook.has(sp.local.name)).map(sp=>s.slice(sp.start,sp.end)); add(n.start,keep.length?`import { ${keep.join(', ')} } from 'vitest'`:'',n.end-n.start) }
  }
  const rel=f.startsWith('e2e/testing')?'../../':f.split('/').length===2?'../':'../../'
  if(types.has('TestUser')&&!/import type .*TestUser|type TestUser/.test(s)) add(0,`import type { TestUser } from '${rel}server/testing/client.ts'\n`)
  edits.sort((a,b)=>b.pos-a.pos||b.del-a.del)
  let out=s; for(const e of edits) out=out.slice(0,e.pos)+e.text+out.slice(e.pos+e.del)
  writeFileSync(f,out)
}
console.log(flags.join('\n'))
