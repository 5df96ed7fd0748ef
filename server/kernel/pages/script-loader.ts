/**
 * The script at the end of a rendered page. It fetches the app's scripts when the browser has painted the page, since
 * they would compete with it on a slow line; after 1.5 s at the latest, which is also when a page that is not visible gets
 * them.
 */
export const LOADER = `(()=>{
const {main,preload}=document.currentScript.dataset
let begun=false
const add=(name,attributes)=>document.head.append(Object.assign(document.createElement(name),attributes))
const load=()=>{
if(begun)return
begun=true
for(const href of preload.split(' '))add('link',{rel:'modulepreload',crossOrigin:'',href})
add('script',{type:'module',crossOrigin:'',src:main})
}
try{new PerformanceObserver(load).observe({type:'paint',buffered:true})}catch{}
setTimeout(load,1500)
})()`

/** Returns the element that loads `main`, preloading the scripts that it needs. */
export function loaderOf(main: string, preload: string[]): string {
  return `<script data-main="${main}" data-preload="${preload.join(' ')}">${LOADER}</script>`
}
