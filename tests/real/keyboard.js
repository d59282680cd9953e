/*
 * keyboard.js CHROMIUM PAGE: the page by the keyboard alone, in headless Chromium over a pipe of its DevTools. Tab comes to everything that
 * can be used, in the order of the page, and what it comes to is in sight; Enter opens what is folded, a link leads into what is folded; the
 * filter is reached and chooses by what is typed. Prints what is wrong; exits with 0 if nothing is.
 */
'use strict'
const { spawn } = require('child_process')
const fs = require('fs')
const os = require('os')
const path = require('path')

const [chromium, page] = process.argv.slice(2)
const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'keyboard-'))
const browser = spawn(chromium, ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe', `--user-data-dir=${profile}`],
	{ stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] })
const waiting = new Map()
let last = 0, rest = '', session, failed = false

browser.stdio[4].on('data', chunk => {
	const messages = (rest + chunk).split('\0')
	rest = messages.pop()
	for (const message of messages.map(m => JSON.parse(m)))
		if (message.id && waiting.has(message.id)) {
			waiting.get(message.id)(message)
			waiting.delete(message.id)
		}
})
function send(method, params = {}) {
	return new Promise((resolve, reject) => {
		waiting.set(++last, m => m.error ? reject(new Error(`${method}: ${m.error.message}`)) : resolve(m.result))
		browser.stdio[3].write(JSON.stringify({ id: last, method, params, sessionId: session }) + '\0')
	})
}
async function of_page(expression) {
	const r = await send('Runtime.evaluate', { expression, returnByValue: true })
	if (r.exceptionDetails)
		throw new Error(`${expression}: ${r.exceptionDetails.exception?.description}`)
	return r.result.value
}
async function press(key, text) {
	const codes = { Tab: 9, Enter: 13, ' ': 32 }
	const event = { key, code: key === ' ' ? 'Space' : key, windowsVirtualKeyCode: codes[key], text }
	await send('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', ...event })
	await send('Input.dispatchKeyEvent', { type: 'keyUp', ...event })
}
function check(ok, what) {
	if (!ok)
		console.log(what)
	failed ||= !ok
}
/* What can be used now, by its number in the page; what is folded or hidden cannot. */
const usable = `[...document.querySelectorAll('a[href],input,summary,[tabindex="0"]')].filter(e => e.checkVisibility())`
const number = `[...document.querySelectorAll('*')].indexOf(document.activeElement)`
const in_sight = `(() => { const r = document.activeElement.getBoundingClientRect(), o = getComputedStyle(document.activeElement)
	return r.bottom > 0 && r.top < innerHeight && o.outlineStyle !== 'none' && parseFloat(o.outlineWidth) > 0 })()`

async function tab_order() {
	const due = await of_page(`${usable}.map(e => [...document.querySelectorAll('*')].indexOf(e))`)
	for (const want of due) {
		await press('Tab')
		const at = await of_page(number)
		check(at === want, `Tab comes to element ${at}, not ${want}: ${await of_page('document.activeElement.outerHTML.slice(0, 160)')}`)
		check(await of_page(in_sight), `what Tab comes to is not in sight or not marked: ${await of_page('document.activeElement.outerHTML.slice(0, 160)')}`)
		if (at !== want)
			return
	}
}
async function folds() {
	const count = await of_page(`document.querySelectorAll('summary').length`)
	for (let i = 0; i < count; i++) {
		/* One within another can be used once that is open. */
		await of_page(`(e => { while ((e = e.parentElement.closest('details'))) e.open = true })(document.querySelectorAll('summary')[${i}].parentElement)`)
		await of_page(`document.querySelectorAll('summary')[${i}].focus()`)
		await press('Enter', '\r')
		check(await of_page(`document.querySelectorAll('summary')[${i}].parentElement.open`), `Enter does not open fold ${i}`)
		await press('Enter', '\r')
		check(!await of_page(`document.querySelectorAll('summary')[${i}].parentElement.open`), `Enter does not close fold ${i}`)
	}
}
async function links() {
	const ids = await of_page(`[...document.querySelectorAll('table.list a[href^="#"]')].filter(a => a.checkVisibility()).slice(0, 5).map(a => a.hash.slice(1))`)
	for (const id of ids) {
		await of_page(`document.querySelector('table.list a[href="#${id}"]').focus()`)
		await press('Enter', '\r')
		check(await of_page(`location.hash === '#${id}' && (r => r.bottom > 0 && r.top < innerHeight)(document.getElementById('${id}').getBoundingClientRect())`),
			`the link to ${id} does not lead there`)
	}
}
async function filter() {
	if (!await of_page(`!!document.querySelector('form')`))
		return
	const shown = `[...document.querySelectorAll('table.list tr[data-a]')].filter(e => !e.hidden).length`
	const all = await of_page(shown)
	await of_page(`document.querySelector('input[type=search]').focus()`)
	await send('Input.insertText', { text: 'no finding has this' })
	check(await of_page(shown) === 0, 'the filter does not choose by what is typed')
	await of_page(`document.querySelector('input[type=search]').select()`)
	await send('Input.insertText', { text: '' })
	await of_page(`(e => { e.value = ''; e.dispatchEvent(new Event('input', { bubbles: true })) })(document.querySelector('input[type=search]'))`)
	check(await of_page(shown) === all, 'an empty filter does not show all')
	const boxes = await of_page(`document.querySelectorAll('input[name=a]').length`)
	for (let i = 0; i < boxes; i++) {
		await of_page(`document.querySelectorAll('input[name=a]')[${i}].focus()`)
		await press(' ', ' ')
	}
	check(await of_page(shown) === 0, 'Space does not change the boxes of the filter')
}
async function main() {
	const { targetId } = await send('Target.createTarget', { url: 'about:blank' })
	session = (await send('Target.attachToTarget', { targetId, flatten: true })).sessionId
	await send('Page.enable')
	await send('Emulation.setFocusEmulationEnabled', { enabled: true })
	await send('Page.navigate', { url: 'file://' + path.resolve(page) })
	for (let i = 0; i < 600 && !await of_page(`document.readyState === 'complete' && location.protocol === 'file:'`).catch(() => false); i++)
		await new Promise(resolve => setTimeout(resolve, 100))
	await tab_order()
	await folds()
	await links()
	await filter()
}
// The browser's other processes still write there for a moment after it has ended.
async function remove(folder) {
	for (let i = 0; i < 100; i++)
		try {
			return fs.rmSync(folder, { recursive: true, force: true })
		} catch (e) {
			await new Promise(resolve => setTimeout(resolve, 100))
		}
	check(false, 'cannot remove ' + folder)
}
main().catch(e => check(false, e.message)).finally(() => {
	browser.on('exit', async () => {
		await remove(profile)
		process.exit(failed ? 1 : 0)
	})
	browser.kill()
})
